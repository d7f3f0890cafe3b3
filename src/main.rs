//! The `broadcheck` program; see [`broadcheck::cli`].

fn main() -> std::process::ExitCode {
    broadcheck::cli::main()
}
