//! How programs in ndarray's calls look.

use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::{Input, Step, TensorValue};
use broadcheck_protocol::tensor::{DType, IndexItem};
use broadcheck_recording::{Bound, Language, Written, sizes, vector};

/// ndarray's Rust.
pub struct Ndarray;

impl Language for Ndarray {
    const MANIFEST: &'static str = include_str!("../Cargo.toml");
    const USES: &'static [(&'static str, &'static str)] = &[
        ("ndarray::ArrayD", "ArrayD::"),
        ("ndarray::Axis", "Axis("),
        ("ndarray::Ix1", "Ix1"),
        ("ndarray::Ix2", "Ix2"),
        ("ndarray::SliceInfoElem", "SliceInfoElem::"),
        ("ndarray::Zip", "Zip::"),
        ("ndarray::arr0", "arr0("),
        ("ndarray::linalg::Dot", "Dot::"),
        ("ndarray::linalg::general_mat_mul", "general_mat_mul("),
        ("ndarray::linalg::general_mat_vec_mul", "general_mat_vec_mul("),
        ("ndarray::linalg::kron", "kron("),
        ("num_complex::Complex", "Complex"),
    ];
    const RETURNS: &'static str = "Result<(), Box<dyn std::error::Error>>";
    const RESULTS: bool = false;

    fn input(&self, input: &Input) -> String {
        let sizes = sizes(input.shape.sizes());
        format!("ArrayD::from_shape_vec({sizes}, {}).unwrap()", vector(input.dtype, &input.data))
    }

    fn parts(&self, variable: &str, _value: &TensorValue) -> (String, String) {
        (format!("{variable}.shape()"), format!("{variable}.iter().collect::<Vec<_>>()"))
    }

    fn helper(&self, function: &str, arguments: &[Bound], _dtype: Option<DType>) -> Option<String> {
        Some(match (function, arguments) {
            ("fixed", [Bound::Tensor(tensor)]) => format!("{}.clone().into_dimensionality().unwrap()", tensor.name),
            ("some", [value]) => format!("{}.unwrap()", value.text()?),
            ("indices", [Bound::Tensor(index)]) => {
                format!("{}.iter().map(|&index| index as usize).collect::<Vec<_>>()", index.name)
            }
            _ => return None,
        })
    }

    fn call(&self, step: &Step, arguments: &[Bound]) -> Option<Written> {
        let (Op::Index, [Bound::Tensor(of), Bound::Index(items)]) = (step.op, arguments) else { return None };
        let items: Vec<String> = items.iter().map(item).collect::<Option<_>>()?;
        let slice = format!("{}.slice([{}].as_slice()).to_owned()", of.name, items.join(", "));
        Some(Written::of(slice))
    }
}

fn item(of: &IndexItem) -> Option<String> {
    Some(match *of {
        IndexItem::None => "SliceInfoElem::NewAxis".to_owned(),
        IndexItem::At(index) => format!("SliceInfoElem::Index({index})"),
        IndexItem::Slice { start, stop, step } => {
            format!("SliceInfoElem::Slice {{ start: {}, end: {stop:?}, step: {step} }}", start.unwrap_or(0))
        }
        IndexItem::Ellipsis => return None,
    })
}
