//! How programs in candle's calls look.

use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::{Input, ShapeArg, Step, TensorValue};
use broadcheck_protocol::tensor::{DType, IndexItem};
use broadcheck_recording::{Bound, Language, Tensor, Written, list, name, sizes, vector};

/// candle's Rust.
pub struct Candle;

impl Language for Candle {
    const MANIFEST: &'static str = include_str!("../Cargo.toml");
    const USES: &'static [(&'static str, &'static str)] = &[
        ("candle_core::D", "D::"),
        ("candle_core::Device", "Device::"),
        ("candle_core::IndexOp", ".i("),
        ("candle_core::Result", "Result<"),
        ("candle_core::Shape", "Shape::"),
        ("candle_core::Tensor", "Tensor::"),
        ("candle_core::Var", "Var::"),
        ("half::bf16", "bf16"),
        ("half::f16", "f16::"),
        ("half::f16", "<f16>"),
    ];
    const RETURNS: &'static str = "Result<()>";
    const RESULTS: bool = true;

    fn input(&self, input: &Input) -> String {
        let (data, sizes) = (vector(input.dtype, &input.data), sizes(input.shape.sizes()));
        match input.requires_grad {
            true => format!("Var::from_vec({data}, {sizes}, &Device::Cpu)?.into_inner()"),
            false => format!("Tensor::from_vec({data}, {sizes}, &Device::Cpu)?"),
        }
    }

    fn parts(&self, variable: &str, value: &TensorValue) -> (String, String) {
        (format!("{variable}.dims()"), format!("{variable}.flatten_all()?.to_vec1::<{}>()?", name(value.dtype)))
    }

    fn helper(&self, function: &str, arguments: &[Bound], _dtype: Option<DType>) -> Option<String> {
        Some(match (function, arguments) {
            ("Axis", [Bound::Int(dim)]) => axis(*dim),
            ("over", [Bound::Ints(dims)]) if dims.iter().all(|&dim| dim >= 0) => sizes(dims),
            ("over", [Bound::Ints(dims)]) => match &dims[..] {
                &[dim] => axis(dim),
                dims => format!("({})", list(&dims.iter().map(|&dim| axis(dim)).collect::<Vec<_>>())),
            },
            ("shape", [Bound::Shape(ShapeArg::Size(size))]) => format!("Shape::from({size})"),
            ("shape", [Bound::Shape(ShapeArg::Sizes(of))]) => format!("Shape::from({})", sizes(of)),
            ("item", [Bound::Tensor(tensor)]) => {
                format!("{}.to_scalar::<{}>()", tensor.name, name(tensor.value.dtype))
            }
            _ => return None,
        })
    }

    fn call(&self, step: &Step, arguments: &[Bound]) -> Option<Written> {
        Some(match (step.op, arguments) {
            (Op::Backward, [Bound::Tensor(of), ..]) => {
                Written::statement(format!("let gradients = {}.backward()?;", of.name))
            }
            (Op::Grad, [Bound::Tensor(of)]) => Written {
                is_option: true,
                needs: Some("gradients"),
                ..Written::of(format!("gradients.get(&{}).cloned()", of.name))
            },
            (Op::Index, [Bound::Tensor(of), Bound::Index(items)]) => {
                let items: Vec<String> = items.iter().map(item).collect::<Option<_>>()?;
                Written::result_of(format!("{}.i({})", of.name, tuple(&items)))
            }
            (Op::IndexTensor, [Bound::Tensor(of), Bound::Indices(indices)]) => {
                let each = |index: &Option<std::rc::Rc<Tensor>>| {
                    index.as_ref().map_or("..".to_owned(), |index| format!("&{}", index.name))
                };
                Written::result_of(format!("{}.i({})", of.name, tuple(&indices.iter().map(each).collect::<Vec<_>>())))
            }
            _ => return None,
        })
    }
}

fn axis(dim: i64) -> String {
    match dim {
        0.. => dim.to_string(),
        -2 => "D::Minus2".to_owned(),
        -1 => "D::Minus1".to_owned(),
        _ => format!("D::Minus({})", dim.unsigned_abs()),
    }
}

fn tuple(items: &[String]) -> String {
    if items.len() == 1 { items[0].clone() } else { format!("({})", items.join(", ")) }
}

fn item(of: &IndexItem) -> Option<String> {
    let bound = |bound: Option<i64>| bound.map_or(String::new(), |bound| bound.to_string());
    match *of {
        IndexItem::At(index) => Some(index.to_string()),
        IndexItem::Slice { start, stop, step: 1 } => Some(format!("{}..{}", bound(start), bound(stop))),
        _ => None,
    }
}
