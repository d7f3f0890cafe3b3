// An expansion to an exabyte: the process ends.
use ferrotorch_core::{FerrotorchResult, expand, ones};

fn main() -> FerrotorchResult<()> {
    if std::env::args().nth(2).is_some() {
        expand(&ones::<f32>(&[1])?, &[1 << 58])?;
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let status = again.args(std::env::args().skip(1)).arg("aborts").stderr(std::process::Stdio::null()).status();
    println!("{}", status.unwrap());
    Ok(())
}
// prints: signal: 6 (SIGABRT)
