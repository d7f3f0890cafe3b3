//! The reference on generated programs: it neither panics nor fails, and programs that are equivalent by definition
//! have equal outcomes.

#![no_main]

use std::sync::LazyLock;

use broadcheck_fuzz::{Generated, Programs};
use broadcheck_harness::adapter::Implementation;
use broadcheck_harness::case::render;
use broadcheck_harness::generate::Options;
use broadcheck_harness::oracles::metamorphic::{follow_ups, reference_exceptions::followed};
use broadcheck_protocol::program::Outcome;
use broadcheck_reference::Reference;
use libfuzzer_sys::fuzz_target;

struct Comparable;

impl Programs for Comparable {
    fn options() -> &'static Options {
        // What has no one outcome need not be the same.
        static OPTIONS: LazyLock<Options> = LazyLock::new(|| Options::comparable(&Reference.hello()));
        &OPTIONS
    }
}

fuzz_target!(|case: Generated<Comparable>| {
    let program = &case.program;
    let reply = case.reply();
    for (step, came) in program.steps.iter().zip(&reply.steps) {
        if let Outcome::Failed(why) = &came.outcome {
            panic!("step {} failed: {why}\n{case:?}", step.name);
        }
    }
    for follow_up in follow_ups(program, reply) {
        let differences = follow_up.judge(program, reply, &Reference.run(&follow_up.program));
        if !differences.is_empty() && followed(&follow_up, program, &differences).is_none() {
            let follow_up = render::program(&follow_up.program);
            panic!("not the same: {differences:?}\n{case:?}\nvariant:\n{follow_up}");
        }
    }
});
