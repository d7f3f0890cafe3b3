//! tmp
use serde_yaml::Value;
fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let all: Value = serde_yaml::from_str(&std::fs::read_to_string("tests/questions.yaml").unwrap()).unwrap();
    let (mut total, mut good) = (0, 0);
    for q in all.as_sequence().unwrap() {
        let id = q["id"].as_str().unwrap();
        if !only.is_empty() && !only.iter().any(|o| id.contains(o.as_str())) {
            continue;
        }
        total += 1;
        let mut options = broadcheck_explain::Options::default();
        let mut ask = vec![];
        let mut it = q["ask"].as_sequence().unwrap().iter().map(|a| {
            a.as_str().map(str::to_owned).unwrap_or_else(|| serde_yaml::to_string(a).unwrap().trim().to_owned())
        });
        while let Some(a) = it.next() {
            match a.as_str() {
                "--op" => options.op = it.next(),
                "--out" => options.out = it.next(),
                "--arg" => options.arguments.push(it.next().unwrap()),
                "--dtype" => options.dtypes.push(it.next().unwrap()),
                _ => ask.push(a),
            }
        }
        let rejected = q["rejected"].as_bool().unwrap();
        let error = q["error"].as_str().unwrap_or("");
        match broadcheck_explain::explain(&ask, &options) {
            Err(e) => println!("{id}: ERR {e}\n     ask {ask:?}"),
            Ok(a) => {
                let text = format!("{a:?}");
                let missing: Vec<&str> = q["names"]
                    .as_sequence()
                    .map(|n| n.iter().filter_map(|n| n.as_str()).filter(|n| !text.contains(n)).collect())
                    .unwrap_or_default();
                let verdict = format!("{:?}", a.verdict);
                let fine = if rejected {
                    verdict == "Rejected" || verdict == "Reported" || verdict == "Conditional"
                } else {
                    verdict == "Accepted" && !a.cautions.is_empty()
                };
                let msg = a.message.as_deref().unwrap_or("") == error || verdict == "Reported";
                let wanted: Vec<String> = q["fixes"]
                    .as_sequence()
                    .map(|f| {
                        f.iter()
                            .map(|f| {
                                format!(
                                    "{:?}",
                                    f["result"]
                                        .as_sequence()
                                        .map(|s| s.iter().map(|x| x.as_i64().unwrap_or(-1)).collect::<Vec<_>>())
                                        .unwrap_or_default()
                                )
                            })
                            .collect()
                    })
                    .unwrap_or_default();
                let fix = verdict == "Reported" || a.fixes.iter().any(|f| wanted.contains(&f.result));
                if fine && msg && fix && missing.is_empty() {
                    good += 1;
                    if only.is_empty() {
                        continue;
                    }
                }
                println!(
                    "{id}: {verdict} fine={fine} msg={msg} fix={fix} missing={missing:?}\n     ask {ask:?}\n     error {error}\n     ours  {:?}\n     wanted {:?}",
                    a.message,
                    q["fixes"].as_sequence().map(|f| f
                        .iter()
                        .map(|f| format!(
                            "{} -> {:?}",
                            f["code"].as_str().unwrap_or(""),
                            f["result"]
                                .as_sequence()
                                .map(|s| s.iter().map(|x| x.as_i64().unwrap_or(-1)).collect::<Vec<_>>())
                        ))
                        .collect::<Vec<_>>())
                );
                for f in a.fixes {
                    println!("        {:<50} {:<20} {}", f.code, f.result, f.why);
                }
            }
        }
    }
    println!("{good} of {total}");
}
