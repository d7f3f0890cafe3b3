//! definition · mul_ · values · in-place
//!
//! Exits with 1 if the difference is there, with 0 if it is not, with 2 if tch cannot show it. In a new package:
//!
//! ```toml
//! [dependencies]
//! tch = "0.26"       # for libtorch 2.13; LIBTORCH names the folder of another one
//! ```

// tch has no function for clone with these arguments
// tch has no function for copy with these arguments

fn main() -> std::process::ExitCode {
    println!("{}", "tch has no function for clone with these arguments");
    println!("{}", "tch has no function for copy with these arguments");
    println!("repro.py has the program.");
    std::process::ExitCode::from(2)
}
