//! How programs in Burn's calls look.

use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::{Input, Step, TensorValue};
use broadcheck_protocol::tensor::{Category, DType, IndexItem, Scalar};
use broadcheck_recording::{Bound, Language, Tensor, Written, list, name, number, vector};

use crate::operations::{einsum_rank, flattened_rank};

/// Burn's Rust.
pub struct Burn;

impl Language for Burn {
    const MANIFEST: &'static str = include_str!("../Cargo.toml");
    const USES: &'static [(&'static str, &'static str)] = &[
        ("burn_tensor::Bool", "Bool>"),
        ("burn_tensor::DType", "DType::"),
        ("burn_tensor::Device", "Device::"),
        ("burn_tensor::Float", "Float>"),
        ("burn_tensor::IndexingUpdateOp", "IndexingUpdateOp::"),
        ("burn_tensor::Int", "Int>"),
        ("burn_tensor::Slice", "Slice{"),
        ("burn_tensor::Tensor", "Tensor"),
        ("burn_tensor::TensorData", "TensorData::"),
        ("burn_tensor::bf16", "bf16"),
        ("burn_tensor::f16", "f16::"),
        ("burn_tensor::f16", "<f16>"),
    ];
    const RETURNS: &'static str = "Result<(), Box<dyn std::error::Error>>";
    const RESULTS: bool = false;
    const BY_VALUE: bool = true;

    fn input(&self, input: &Input) -> String {
        let device = if input.requires_grad { "Device::flex().autodiff()" } else { "Device::flex()" };
        let dtype = match input.dtype {
            DType::Bool => "Bool(burn_tensor::BoolStore::Native)".to_owned(),
            other => name(other).to_uppercase(),
        };
        let grad = if input.requires_grad { ".require_grad()" } else { "" };
        let (data, sizes) = (vector(input.dtype, &input.data), list(input.shape.sizes()));
        format!("Tensor::from_data(TensorData::new({data}, [{sizes}]), (&{device}, DType::{dtype})){grad}")
    }

    fn annotation(&self, input: &Input) -> Option<String> {
        Some(annotation(input.shape.rank(), kind(input.dtype)))
    }

    fn parts(&self, variable: &str, value: &TensorValue) -> (String, String) {
        (format!("{variable}.dims()"), format!("{variable}.to_data().to_vec::<{}>().unwrap()", name(value.dtype)))
    }

    fn helper(&self, function: &str, arguments: &[Bound], _dtype: Option<DType>) -> Option<String> {
        match (function, arguments) {
            // With its type: a number on the left is of any.
            ("real", [Bound::Number(Scalar::Int(int))]) => Some(format!("{int}.0f64")),
            ("real", [Bound::Number(Scalar::Float(real))]) => Some(number(Scalar::Float(*real), Some(DType::Float64))),
            _ => None,
        }
    }

    fn types(&self, tensor: &Tensor) -> Vec<String> {
        vec![tensor.value.shape.rank().to_string(), kind(tensor.value.dtype).to_owned()]
    }

    fn call(&self, step: &Step, arguments: &[Bound]) -> Option<Written> {
        let written = |value: String, rank: usize, of: &Tensor| Written {
            annotation: Some(annotation(rank, kind(of.value.dtype))),
            ..Written::of(value)
        };
        Some(match (step.op, arguments) {
            (Op::Backward, [Bound::Tensor(of), ..]) => {
                Written::statement(format!("let gradients = {}.backward();", of.name))
            }
            (Op::Grad, [Bound::Tensor(of)]) => Written {
                is_option: true,
                needs: Some("gradients"),
                ..Written::of(format!("{}.grad(&gradients)", of.name))
            },
            (Op::Item, [Bound::Tensor(of)]) => {
                Written::of(format!("{}.clone().into_scalar::<{}>()", of.name, name(of.value.dtype)))
            }
            (Op::Squeeze, [Bound::Tensor(of), Bound::Nothing]) => {
                let rank = of.value.shape.sizes().iter().filter(|size| **size != 1).count();
                written(format!("{}.clone().squeeze()", of.name), rank, of)
            }
            (Op::Permute, [Bound::Tensor(of), Bound::Ints(dims)]) => {
                written(format!("{}.clone().permute([{}])", of.name, list(dims)), of.value.shape.rank(), of)
            }
            (Op::Flatten, [Bound::Tensor(of), Bound::Int(start), Bound::Int(end)]) => {
                let rank = flattened_rank(of.value.shape.rank(), *start, *end);
                written(format!("{}.clone().flatten({start}, {end})", of.name), rank, of)
            }
            (Op::Index, [Bound::Tensor(of), Bound::Index(items)]) => {
                let items: Vec<String> = items.iter().map(item).collect::<Option<_>>()?;
                written(format!("{}.clone().slice([{}])", of.name, items.join(", ")), of.value.shape.rank(), of)
            }
            (Op::Einsum, [Bound::Text(equation), Bound::Tensors(operands)]) => {
                let rank = einsum_rank(equation)?;
                let of = operands.first()?;
                let operands: Vec<String> =
                    operands.iter().map(|operand| format!("{}.clone().into()", operand.name)).collect();
                written(format!("Tensor::einsum({equation:?}, vec![{}])", operands.join(", ")), rank, of)
            }
            _ => return None,
        })
    }
}

fn kind(dtype: DType) -> &'static str {
    match dtype.category() {
        Category::Bool => "Bool",
        Category::Integral => "Int",
        _ => "Float",
    }
}

fn annotation(rank: usize, kind: &str) -> String {
    format!("Tensor<{rank}, {kind}>")
}

fn item(of: &IndexItem) -> Option<String> {
    let &IndexItem::Slice { start, stop, step } = of else { return None };
    Some(format!("Slice {{ start: {}, end: {stop:?}, step: {step} }}", start.unwrap_or(0)))
}
