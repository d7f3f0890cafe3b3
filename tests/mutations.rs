//! The gate sees every change of the specification: each expected value, shape, message and so on is made wrong, one at
//! a time, in every case, and each time the case has to fail on every implementation that runs it.
//!
//! A mutation is a statement that is false where the original is true; what is true by accident, such as another name
//! for the same storage, is left out.

mod common;
#[path = "mutations/mutate.rs"]
mod mutate;

use std::collections::BTreeMap;

use broadcheck::adapter::{Hello, Implementation, unsupported_by};
use broadcheck::case::Case;
use broadcheck::harness::check::{Candidate, verdict_with};
use broadcheck::harness::model::divergence;
use broadcheck::harness::model::event::Verdict;
use broadcheck::program::{Program, Reply};
use broadcheck::reference::Reference;
use common::{SPECIFICATION, needs_front_end};
use mutate::{Mutation, Property};

/// The number of mutations of each property, and the number of those that failed the gate.
type Counts = BTreeMap<Property, (usize, usize)>;

#[test]
fn every_mutation_is_caught_on_the_reference() {
    let caught = catch(common::reference());
    assert_eq!(caught.cases, SPECIFICATION.cases.len());
}

#[test]
fn every_mutation_is_caught_on_libtorch() {
    let libtorch = common::libtorch().unwrap_or_else(|error| panic!("{error}"));
    let hello = libtorch.runner.hello();
    let known = |case: &Case| divergence::of_case(&libtorch.divergences, &hello, &case.id).is_some();
    let cases = SPECIFICATION.cases.iter().filter(|case| !needs_front_end(case) && !known(case)).count();
    assert_eq!(catch(libtorch).cases, cases);
}

struct Caught {
    cases: usize,
}

fn catch(mut candidate: Candidate) -> Caught {
    let hello = candidate.runner.hello();
    let ran = run(&mut candidate, &hello);
    let half = ran.len().div_ceil(2);
    // Two halves at a time: there are tens of thousands of verdicts.
    let results: Vec<(Counts, Vec<String>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = ran.chunks(half).map(|ran| scope.spawn(|| judge(ran, &hello))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no case makes the gate panic")).collect()
    });
    let mut counts = Counts::new();
    let mut missed = Vec::new();
    for (half, half_missed) in results {
        for (property, (made, caught)) in half {
            let count = counts.entry(property).or_default();
            *count = (count.0 + made, count.1 + caught);
        }
        missed.extend(half_missed);
    }
    let total = |pick: fn(&(usize, usize)) -> usize| counts.values().map(pick).sum::<usize>();
    println!("{} {}: {} cases", hello.name, hello.version, ran.len());
    for (property, (made, caught)) in &counts {
        println!("  {:<12} {made:>6} made {caught:>6} caught", property.name());
    }
    println!("  {:<12} {:>6} made {:>6} caught", "all", total(|count| count.0), total(|count| count.1));
    assert!(missed.is_empty(), "{} mutations pass:\n{}", missed.len(), missed.join("\n"));
    assert_eq!(total(|count| count.0), total(|count| count.1));
    for property in Property::ALL {
        assert!(counts.get(property).is_some_and(|count| count.0 > 0), "nothing of {} was mutated", property.name());
    }
    Caught { cases: ran.len() }
}

/// Every case that the implementation executes, with what it answers.
fn run(candidate: &mut Candidate, hello: &Hello) -> Vec<(&'static Case, Reply)> {
    let cases: Vec<&Case> =
        SPECIFICATION.cases.iter().filter(|case| unsupported_by(hello, &case.program).is_none()).collect();
    // Where it is known to be wrong, nothing that is said of it is true to begin with.
    let known = |case: &Case| divergence::of_case(&candidate.divergences, hello, &case.id).is_some();
    let cases: Vec<&Case> = cases.into_iter().filter(|case| !known(case)).collect();
    let programs: Vec<Program> = cases.iter().map(|case| case.program.clone()).collect();
    let mut ran = Vec::new();
    candidate.runner.run_each(&programs, |at, reply| {
        let reply = reply.unwrap_or_else(|fault| panic!("{}: {fault}", cases[at].id));
        ran.push((cases[at], reply));
    });
    ran
}

fn judge(ran: &[(&Case, Reply)], hello: &Hello) -> (Counts, Vec<String>) {
    let mut counts = Counts::new();
    let mut missed = Vec::new();
    for (case, reply) in ran {
        // A mutation changes what is expected of a program, never the program.
        let reference = (hello.name != "reference").then(|| Reference.run(&case.program));
        let verdict = |case: &Case| verdict_with(case, hello, reply, reference.as_ref());
        assert_eq!(verdict(case), Verdict::Passed, "{} has to pass as it is", case.id);
        let mut made = 0;
        for Mutation { property, what, case: mutated } in mutate::mutations(case, reply) {
            made += 1;
            let count = counts.entry(property).or_default();
            count.0 += 1;
            match verdict(&mutated) {
                Verdict::Failed { .. } => count.1 += 1,
                other => missed.push(format!("{}: {} {what}: {}", case.id, property.name(), other.name())),
            }
        }
        assert!(made > 0, "{}: nothing to mutate", case.id);
    }
    (counts, missed)
}
