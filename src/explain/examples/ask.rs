//! tmp
fn main() {
    let mut options = broadcheck_explain::Options::default();
    let mut ask = vec![];
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        if a == "--op" {
            options.op = args.next()
        } else if a == "--out" {
            options.out = args.next()
        } else if a == "--arg" {
            options.arguments.push(args.next().unwrap())
        } else {
            ask.push(a)
        }
    }
    match broadcheck_explain::explain(&ask, &options) {
        Err(e) => println!("ERR {e}"),
        Ok(a) => {
            println!(
                "{:?} `{}` call `{}`\n  message {:?}\n  reason {:?}\n  result {:?} mem {:?}\n  cond {:?}\n  cautions {:?}\n  grads {:?}\n  warnings {:?}\n  tensors {:?}",
                a.verdict,
                a.source,
                a.call,
                a.message,
                a.reason,
                a.result.map(|r| r.shape + " " + &r.dtype),
                a.memory,
                a.conditions,
                a.cautions,
                a.gradients,
                a.warnings,
                a.tensors.iter().map(|t| format!("{}={}:{}", t.name, t.shape, t.dtype)).collect::<Vec<_>>()
            );
            for f in a.fixes {
                println!("    {:<50} {:<20} {}", f.code, f.result, f.why);
            }
            if let Some(m) = a.reported {
                println!("  reported {m:?}");
            }
        }
    }
}
