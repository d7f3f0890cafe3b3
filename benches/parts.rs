//! The parts of a campaign, one by one: `cargo bench`. `broadcheck bench` compares them with libtorch.

use std::borrow::Cow;
use std::hint::black_box;

use broadcheck::adapter::Implementation;
use broadcheck::adapter::protocol::{Encoding, Request, Response};
use broadcheck::case;
use broadcheck::harness::campaign::{cases, options};
use broadcheck::harness::oracles::comparison::{Side, compare};
use broadcheck::harness::oracles::metamorphic;
use broadcheck::program::{Program, Reply};
use broadcheck::reference::Reference;
use criterion::{Criterion, criterion_group, criterion_main};

/// The number of programs that each part is measured on, since programs differ.
const PROGRAMS: u64 = 500;

fn parts(criterion: &mut Criterion) {
    let hello = Reference.hello();
    let options = options(&hello, None, false);
    let programs: Vec<Program> = (0..PROGRAMS).map(|case| cases::make(1, case, &options).program).collect();
    let replies: Vec<Reply> = programs.iter().map(|program| Reference.run(program)).collect();
    let both = || programs.iter().zip(&replies);
    let responses: Vec<Response> = replies.iter().map(|reply| Response::Ran { seq: 0, reply: reply.clone() }).collect();

    let mut group = criterion.benchmark_group(format!("{PROGRAMS} programs of a campaign"));
    let mut part = |name: &str, work: &dyn Fn()| {
        group.bench_function(name, |bencher| bencher.iter(work));
    };
    part("generator", &|| (0..PROGRAMS).for_each(|case| drop(black_box(cases::make(1, case, &options)))));
    part("reference", &|| programs.iter().for_each(|program| drop(black_box(Reference.run(program)))));
    for (name, encoding) in [("line", Encoding::Json), ("frame", Encoding::MessagePack)] {
        let request = |program| {
            let mut message = Vec::new();
            Request::Run { seq: 0, program: Cow::Borrowed(program) }.write(encoding, &mut message);
            message
        };
        let answer = |response: &Response| {
            let mut message = Vec::new();
            response.write(encoding, &mut message);
            message
        };
        let requests: Vec<Vec<u8>> = programs.iter().map(request).collect();
        let answers: Vec<Vec<u8>> = responses.iter().map(answer).collect();
        part(&format!("write a request as a {name}"), &|| {
            programs.iter().for_each(|program| drop(black_box(request(program))));
        });
        part(&format!("read a request from a {name}"), &|| {
            requests.iter().for_each(|message| drop(black_box(Request::parse(message).unwrap())));
        });
        part(&format!("write an answer as a {name}"), &|| {
            responses.iter().for_each(|response| drop(black_box(answer(response))));
        });
        part(&format!("read an answer from a {name}"), &|| {
            answers.iter().for_each(|message| drop(black_box(Response::parse(message).unwrap())));
        });
    }
    part("compare", &|| {
        both().for_each(|(program, reply)| {
            let side = || Side { hello: &hello, reply };
            drop(black_box(compare(program, side(), side())));
        });
    });
    part("programs that mean the same", &|| {
        both().for_each(|(program, reply)| drop(black_box(metamorphic::follow_ups(program, reply))));
    });
    group.finish();

    let folder = broadcheck::assets::specification().expect("the specification");
    criterion.bench_function("load the specification", |bencher| bencher.iter(|| case::load(&folder).unwrap()));
}

criterion_group!(benches, parts);
criterion_main!(benches);
