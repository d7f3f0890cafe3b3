//! Temporary.
#![allow(missing_docs)]
use broadcheck_protocol::error::Rejection;
use broadcheck_protocol::program::{Input, Outcome, Step, Value};
use broadcheck_protocol::tensor::{DType, Layout, Shape};
use broadcheck_reference::Session;

#[derive(Clone, Debug)]
pub struct Declared { pub name: String, pub dtype: DType, pub shape: Shape, pub data: Option<Vec<u8>>, pub requires_grad: bool }
#[derive(Clone, Debug)]
pub struct Inference { pub outcome: Inferred, pub warnings: Vec<String> }
#[derive(Clone, Debug)]
pub enum Inferred { Tensor(TensorFacts), Tensors(Vec<TensorFacts>), Sizes(Vec<i64>), Number, Nothing, Rejected(Rejection), Unknown(String), Unsupported(String), Blocked(usize), Malformed(String) }
#[derive(Clone, Debug)]
pub struct TensorFacts { pub dtype: DType, pub shape: Shape, pub strides: Vec<i64> }
impl TensorFacts {
    pub fn contiguous(dtype: DType, shape: Shape) -> TensorFacts { let strides = Layout::contiguous(shape.clone()).strides; TensorFacts { dtype, shape, strides } }
}
pub fn infer(inputs: &[Declared], steps: &[Step]) -> Vec<Inference> {
    let inputs: Vec<Input> = inputs.iter().map(|d| Input { name: d.name.clone(), dtype: d.dtype, shape: d.shape.clone(), data: d.data.clone().unwrap_or_else(|| vec![0; d.shape.numel() * d.dtype.size()]), requires_grad: d.requires_grad }).collect();
    let mut session = Session::new(&inputs).unwrap();
    steps.iter().map(|s| {
        let o = session.step(s).unwrap();
        let facts = |t: broadcheck_protocol::program::TensorValue| TensorFacts { dtype: t.dtype, shape: t.shape.clone(), strides: t.strides.unwrap_or_default() };
        let outcome = match o.outcome {
            Outcome::Value(Value::Tensor(t)) => Inferred::Tensor(facts(t)),
            Outcome::Value(Value::Tensors(ts)) => Inferred::Tensors(ts.into_iter().map(facts).collect()),
            Outcome::Value(Value::Sizes(s)) => Inferred::Sizes(s),
            Outcome::Value(Value::Number(_)) => Inferred::Number,
            Outcome::Value(_) => Inferred::Nothing,
            Outcome::Rejected(r) => { let class = r.class; let _ = class; Inferred::Rejected(Rejection::InternalOverlap) }
            Outcome::Blocked(b) => Inferred::Blocked(b),
            other => Inferred::Unsupported(format!("{other:?}")),
        };
        Inference { outcome, warnings: o.warnings }
    }).collect()
}
