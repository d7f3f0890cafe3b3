//! libtorch with nothing around it, to measure by how much a campaign is slower: programs are run one after the other,
//! what comes of them is read back and thrown away.

use std::io::{self, BufRead};
use std::time::Instant;

use broadcheck_protocol::adapter::Implementation;
use broadcheck_protocol::adapter::protocol::Request;
use broadcheck_protocol::program::Program;

use crate::Libtorch;

/// The seconds that the programs of these requests take on libtorch. They are read before the clock starts.
///
/// # Errors
/// When the input breaks, or has something else than requests to run a program.
pub fn bare(input: impl BufRead) -> io::Result<f64> {
    let programs = programs(input)?;
    let mut libtorch = Libtorch::new();
    let begun = Instant::now();
    for program in &programs {
        std::hint::black_box(libtorch.run(program));
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// The same through the methods of `tch` alone, without anything of broadcheck's: operands out of bytes, the call, and the
/// elements or the text of the error read back.
///
/// # Errors
/// Also when a program is more than one call, of an operation that is not one of ten.
#[cfg(feature = "tch")]
pub fn tch(input: impl BufRead) -> io::Result<f64> {
    let programs = programs(input)?.iter().map(pair::Pair::of).collect::<Option<Vec<_>>>();
    let programs = programs.ok_or_else(|| io::Error::other("not one call of one of ten operations"))?;
    Libtorch::new();
    let begun = Instant::now();
    for pair in &programs {
        let _ = std::hint::black_box(pair.run().map_err(|error| io::Error::other(error.to_string()))?);
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn programs(input: impl BufRead) -> io::Result<Vec<Program>> {
    input
        .lines()
        .map(|line| match serde_json::from_str(&line?)? {
            Request::Run { program, .. } => Ok(program.into_owned()),
            Request::Hello { .. } => Err(io::Error::other("a hello among programs")),
        })
        .collect()
}

#[cfg(feature = "tch")]
mod pair {
    use broadcheck_protocol::ops::{Form, Op};
    use broadcheck_protocol::program::{Input, Program};
    use broadcheck_protocol::tensor::DType;
    use tch::{Kind, TchError, Tensor};

    type Call = fn(&Tensor, &Tensor) -> Result<Tensor, TchError>;

    /// A call on two tensors of float32.
    pub struct Pair {
        x: (Vec<u8>, Vec<i64>),
        y: (Vec<u8>, Vec<i64>),
        call: Call,
    }

    impl Pair {
        pub fn of(program: &Program) -> Option<Pair> {
            let ([x, y], [step]) = (&program.inputs[..], &program.steps[..]) else { return None };
            let operand = |input: &Input| {
                (input.dtype == DType::Float32).then(|| (input.data.clone(), input.shape.sizes().to_vec()))
            };
            let call: Call = match step.op {
                Op::Add => |x, y| x.f_add(y),
                Op::Sub => |x, y| x.f_sub(y),
                Op::Mul => |x, y| x.f_mul(y),
                Op::Div => |x, y| x.f_div(y),
                Op::Maximum => |x, y| x.f_maximum(y),
                Op::Minimum => |x, y| x.f_minimum(y),
                Op::Eq => |x, y| x.f_eq_tensor(y),
                Op::Lt => |x, y| x.f_lt_tensor(y),
                Op::Ge => |x, y| x.f_ge_tensor(y),
                Op::Atan2 => |x, y| x.f_atan2(y),
                _ => return None,
            };
            (step.form == Form::Functional).then_some(Pair { x: operand(x)?, y: operand(y)?, call })
        }

        /// The elements of the result, or the message of the rejection.
        pub fn run(&self) -> Result<Result<Vec<u8>, String>, TchError> {
            let x = Tensor::f_from_data_size(&self.x.0, &self.x.1, Kind::Float)?;
            let y = Tensor::f_from_data_size(&self.y.0, &self.y.1, Kind::Float)?;
            let made = match (self.call)(&x, &y) {
                Ok(made) => made,
                Err(error) => return Ok(Err(error.to_string())),
            };
            let elements = made.numel();
            let mut bytes = vec![0; elements * made.f_kind()?.elt_size_in_bytes()];
            made.f_copy_data_u8(&mut bytes, elements)?;
            Ok(Ok(bytes))
        }
    }
}
