//! The reference on generated programs: it neither panics nor fails, and broadcasting is what its definition says.

#![no_main]

use broadcheck::adapter::Implementation;
use broadcheck::case::render;
use broadcheck::generate::{self, Options, by_hand};
use broadcheck::program::Outcome;
use broadcheck::reference::Reference;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let program = generate::program(bytes, &Options::default());
    let reply = Reference.run(&program);
    for (at, (step, came)) in program.steps.iter().zip(&reply.steps).enumerate() {
        if let Outcome::Failed(why) = &came.outcome {
            panic!("step {} failed: {why}\n{}", step.name, render::program(&program));
        }
        let Some(by_hand) = by_hand::by_hand(&program, &reply, at) else { continue };
        if let Some(difference) = by_hand::difference(&came.outcome, &Reference.run(&by_hand)) {
            panic!("step {}, by hand: {difference}\n{}", step.name, render::program(&program));
        }
    }
});
