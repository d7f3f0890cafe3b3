// An expanded tensor takes no memory, its sum with a number an exabyte: the process ends.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    if std::env::args().nth(2).is_some() {
        let _ = (Tensor::<1>::ones([1], &device).expand([1i64 << 60]) + 1.0).into_data();
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let status = again.args(std::env::args().skip(1)).arg("ends").stderr(std::process::Stdio::null()).status();
    println!("{}", status.unwrap());
}
// prints: signal: 6 (SIGABRT)
