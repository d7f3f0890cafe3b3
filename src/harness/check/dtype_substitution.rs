//! Cases in dtypes that an implementation has, for cases in dtypes that it lacks.
//!
//! A library without float64 broadcasts all the same. Where a case is about something else than the dtype, it is run in
//! another one: a dtype that the implementation declares, of the same category, and another for each that is replaced,
//! so that what promotes still promotes. Whether the case allows it, the reference decides: in the other dtypes it must
//! have the outcome that the case expects, in the dtypes that replace those of the case.

use std::collections::BTreeMap;

use crate::adapter::{Hello, Implementation};
use crate::case::{Case, Expectation};
use crate::class_of;
use crate::program::{Arg, Input, Outcome, Program, Reply, TensorValue, Value};
use crate::reference::Reference;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use crate::oracles::specification;

pub use crate::model::event::Replacement;

/// A case in other dtypes.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The case.
    pub case: Case,
    /// The reply of the reference to it.
    pub reference: Reply,
    /// The dtypes that were replaced.
    pub dtypes: Vec<Replacement>,
}

/// In which order the dtypes of a category are tried: what other libraries take for granted comes first.
const PREFERRED: [DType; 11] = [
    DType::Float32,
    DType::Float64,
    DType::Float16,
    DType::Bfloat16,
    DType::Int64,
    DType::Int32,
    DType::Int16,
    DType::Int8,
    DType::Uint8,
    DType::Complex64,
    DType::Complex128,
];

/// The case in dtypes that the implementation has. `None` where it lacks none of the case's own, or has too few, or
/// where the case does not allow it.
pub fn replaced(case: &Case, hello: &Hello) -> Option<Replaced> {
    if DType::ALL.iter().all(|dtype| hello.dtypes.contains(dtype)) {
        return None;
    }
    let before = Reference.run(&case.program);
    let stand = stand_ins(&used(&case.program, &before), hello)?;
    let other = |dtype: DType| stand.get(&dtype).copied().unwrap_or(dtype);
    let mut case = case.clone();
    for input in &mut case.program.inputs {
        input.data = cast(input.dtype, &input.data, other(input.dtype))?;
        input.dtype = other(input.dtype);
    }
    for arg in case.program.steps.iter_mut().flat_map(|step| &mut step.args) {
        if let Arg::Dtype(dtype) = arg {
            *dtype = other(*dtype);
        }
    }
    let mut reference = Reference.run(&case.program);
    // An operation may still return a dtype that the library lacks as input, such as int64 for a sum of bool tensors.
    for tensor in tensors(&mut reference) {
        tensor.data = cast(tensor.dtype, &tensor.data, other(tensor.dtype))?;
        tensor.dtype = other(tensor.dtype);
    }
    if !alike(&before, &reference, other) {
        return None;
    }
    for (_, expectation) in case.expect.iter_mut().chain(&mut case.documented) {
        if let Expectation::Value(expected) = expectation {
            expected.dtype = expected.dtype.map(|dtype| dtype.dtype().map_or(dtype, |dtype| other(dtype).into()));
        }
    }
    let holds = specification::judge(&case, hello, &reference).is_empty();
    let dtypes = stand.into_iter().map(|(from, to)| Replacement { from, to }).collect();
    holds.then_some(Replaced { case, reference, dtypes })
}

/// The dtypes of inputs, of arguments and of everything that comes of them.
fn used(program: &Program, reply: &Reply) -> Vec<DType> {
    let inputs = program.inputs.iter().map(|Input { dtype, .. }| *dtype);
    let args = program.steps.iter().flat_map(|step| &step.args).filter_map(|arg| match arg {
        Arg::Dtype(dtype) => Some(*dtype),
        _ => None,
    });
    let results = reply.steps.iter().flat_map(|step| step.outcome.tensors()).map(|tensor| tensor.dtype);
    let mut used: Vec<DType> = inputs.chain(args).chain(results).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Returns a substitute for each dtype that is lacking: no two for the same, and none that is there already.
fn stand_ins(used: &[DType], hello: &Hello) -> Option<BTreeMap<DType, DType>> {
    let (mut taken, lacking): (Vec<DType>, Vec<DType>) = used.iter().partition(|dtype| hello.dtypes.contains(dtype));
    if lacking.is_empty() {
        return None;
    }
    let mut stand = BTreeMap::new();
    for dtype in lacking {
        let free = |other: &DType| other.category() == dtype.category() && !taken.contains(other);
        let other = PREFERRED.into_iter().filter(free).find(|other| hello.dtypes.contains(other))?;
        taken.push(other);
        stand.insert(dtype, other);
    }
    Some(stand)
}

/// Elements in another dtype of their category. Integers stay what they are, and what is finite stays finite.
fn cast(from: DType, data: &[u8], to: DType) -> Option<Vec<u8>> {
    if from == to {
        return Some(data.to_vec());
    }
    let scalars = Buffer::from_bytes(from, data)?.scalars();
    let fits = |scalar: &Scalar| scalar.fits(to) && !(to == DType::Uint8 && matches!(scalar, Scalar::Int(..0)));
    let flat = Layout::contiguous(Shape::new(vec![i64::try_from(scalars.len()).ok()?]).ok()?);
    scalars.iter().all(fits).then(|| Buffer::from_scalars(to, scalars.into_iter()).to_bytes(&flat))
}

fn tensors(reply: &mut Reply) -> impl Iterator<Item = &mut TensorValue> {
    let results = reply.steps.iter_mut().flat_map(|step| match &mut step.outcome {
        Outcome::Value(Value::Tensor(tensor)) => std::slice::from_mut(tensor),
        Outcome::Value(Value::Tensors(tensors)) => tensors.as_mut_slice(),
        _ => &mut [],
    });
    results.chain(&mut reply.inputs)
}

/// Returns whether every step has the same outcome in both replies, except for dtypes and elements.
fn alike(before: &Reply, after: &Reply, other: impl Fn(DType) -> DType) -> bool {
    let same = |a: &TensorValue, b: &TensorValue| (other(a.dtype), &a.shape) == (b.dtype, &b.shape);
    before.steps.iter().zip(&after.steps).all(|(a, b)| match (&a.outcome, &b.outcome) {
        (Outcome::Rejected(a), Outcome::Rejected(b)) => class_of(a) == class_of(b),
        (Outcome::Value(_), Outcome::Value(_)) => {
            let (a, b) = (a.outcome.tensors(), b.outcome.tensors());
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (a, b) => a == b,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(dtypes: &[DType]) -> Hello {
        Hello { dtypes: dtypes.to_vec(), capabilities: Vec::new(), name: "n".to_owned(), ..Reference.hello() }
    }

    fn case(id: &str) -> Case {
        let specification = crate::case::load(&crate::assets::specification().unwrap()).unwrap();
        specification.cases.into_iter().find(|case| case.id == id).unwrap()
    }

    const NARROW: [DType; 3] = [DType::Bool, DType::Int32, DType::Float32];

    #[test]
    fn a_case_about_shapes_runs_in_another_dtype() {
        let found = replaced(&case("own-rules/integers-to-a-power"), &hello(&NARROW)).unwrap();
        assert_eq!(found.dtypes, [Replacement { from: DType::Int64, to: DType::Int32 }]);
        assert!(found.case.program.inputs.iter().all(|input| input.dtype == DType::Int32 && input.data.len() <= 16));
    }

    #[test]
    fn a_case_about_dtypes_stays_what_it_is() {
        assert!(replaced(&case("promotion/signed-with-unsigned"), &hello(&NARROW)).is_none(), "one dtype for three");
        assert!(replaced(&case("own-rules/integers-wrap"), &hello(&NARROW)).is_none(), "-128 in int8 is 128 in int32");
        assert!(replaced(&case("own-rules/integers-to-a-power"), &Reference.hello()).is_none(), "nothing is lacking");
    }
}
