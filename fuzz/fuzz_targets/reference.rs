//! The reference on generated programs: it neither panics nor fails, and broadcasting is what its definition says.

#![no_main]

use std::sync::LazyLock;

use broadcheck::adapter::Implementation;
use broadcheck::generate::{Options, by_hand};
use broadcheck::program::Outcome;
use broadcheck::reference::Reference;
use broadcheck_fuzz::{Generated, Programs};
use libfuzzer_sys::fuzz_target;

struct Everything;

impl Programs for Everything {
    fn options() -> &'static Options {
        static OPTIONS: LazyLock<Options> = LazyLock::new(Options::default);
        &OPTIONS
    }
}

fuzz_target!(|case: Generated<Everything>| {
    let program = &case.program;
    let reply = case.reply();
    for (at, (step, came)) in program.steps.iter().zip(&reply.steps).enumerate() {
        if let Outcome::Failed(why) = &came.outcome {
            panic!("step {} failed: {why}\n{case:?}", step.name);
        }
        let Some(by_hand) = by_hand::by_hand(program, reply, at) else { continue };
        if let Some(difference) = by_hand::difference(&came.outcome, &Reference.run(&by_hand)) {
            panic!("step {}, by hand: {difference}\n{case:?}", step.name);
        }
    }
});
