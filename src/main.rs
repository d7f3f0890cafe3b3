//! The `broadcheck` program; see [`broadcheck::cli`].

mod embedded;

/// Programs and replies are many small allocations, which are a third of the time of a campaign with the allocator of glibc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    broadcheck::assets::embed(embedded::files);
    broadcheck::cli::main()
}
