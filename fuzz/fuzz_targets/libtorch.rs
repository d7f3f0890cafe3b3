//! libtorch, in this process, against the reference: every outcome is the same.

#![no_main]

use std::sync::LazyLock;

use broadcheck::adapter::{Hello, Implementation};
use broadcheck::case::render;
use broadcheck::generate::{self, Options};
use broadcheck::harness::compare::{Side, compare};
use broadcheck::reference::Reference;
use broadcheck_libtorch::Libtorch;
use libfuzzer_sys::fuzz_target;

static HELLO: LazyLock<Hello> = LazyLock::new(|| Libtorch::new().hello());
static OPTIONS: LazyLock<Options> = LazyLock::new(|| Options::comparable(&HELLO));

fuzz_target!(|bytes: &[u8]| {
    let program = generate::program(bytes, &OPTIONS);
    let (wanted, got) = (Reference.run(&program), Libtorch::new().run(&program));
    let reference = Reference.hello();
    let differences =
        compare(&program, Side { hello: &reference, reply: &wanted }, Side { hello: &HELLO, reply: &got });
    if !differences.is_empty() {
        let differences: Vec<String> = differences
            .iter()
            .map(|d| {
                format!("{} {}:\n  reference: {}\n  libtorch:  {}", d.value, d.aspect.name(), d.expected, d.observed)
            })
            .collect();
        panic!("{}\n{}", differences.join("\n"), render::program(&program));
    }
});
