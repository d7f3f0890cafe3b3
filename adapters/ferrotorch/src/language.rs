//! How programs in ferrotorch's calls look.

use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::{Input, ShapeArg, Step, TensorValue};
use broadcheck_protocol::tensor::{Category, DType, Scalar};
use broadcheck_recording::{Bound, Language, Written, list, number, real_and_imaginary, vector};

/// ferrotorch's Rust.
pub struct Ferrotorch;

impl Language for Ferrotorch {
    const MANIFEST: &'static str = include_str!("../Cargo.toml");
    const USES: &'static [(&'static str, &'static str)] = &[
        ("ferrotorch_core::BoolTensor", "BoolTensor::"),
        ("ferrotorch_core::ComplexTensor", "ComplexTensor::"),
        ("ferrotorch_core::FerrotorchResult", "FerrotorchResult"),
        ("ferrotorch_core::IntTensor", "IntTensor::"),
        ("ferrotorch_core::Tensor", "Tensor::from_storage"),
        ("ferrotorch_core::TensorStorage", "TensorStorage::"),
        ("ferrotorch_core::broadcast_shapes", "broadcast_shapes("),
        ("ferrotorch_core::broadcast_tensors", "broadcast_tensors("),
        ("ferrotorch_core::cdist", "cdist("),
        ("ferrotorch_core::grad_fns::activation", "activation::"),
        ("ferrotorch_core::grad_fns::arithmetic::add_scaled", "add_scaled(&"),
        ("ferrotorch_core::grad_fns::arithmetic::add_scaled_out", "add_scaled_out("),
        ("ferrotorch_core::grad_fns::arithmetic::sub_scaled", "sub_scaled(&"),
        ("ferrotorch_core::grad_fns::indexing::masked_fill_bcast", "masked_fill_bcast("),
        ("ferrotorch_core::grad_fns::indexing::masked_select_bcast", "masked_select_bcast("),
        ("ferrotorch_core::grad_fns::indexing::where_cond_bcast", "where_cond_bcast("),
        ("ferrotorch_core::grad_fns::reduction", "reduction::"),
        ("ferrotorch_core::linalg", "linalg::"),
        ("ferrotorch_core::ops::elementwise", "elementwise::"),
        ("ferrotorch_core::scatter", "scatter(&"),
        ("ferrotorch_core::select", "select(&"),
        ("ferrotorch_core::special", "special::"),
        ("half::bf16", "bf16"),
        ("half::f16", "f16::"),
        ("half::f16", "<f16>"),
        ("num_complex::Complex", "Complex{"),
        ("num_complex::Complex", "Complex::"),
    ];
    const RETURNS: &'static str = "FerrotorchResult<()>";
    const RESULTS: bool = true;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("Floats", "Tensor")];

    fn input(&self, input: &Input) -> String {
        let (data, sizes) = (vector(input.dtype, &input.data), list(input.shape.sizes()));
        match input.dtype.category() {
            Category::Bool => format!("BoolTensor::from_vec({data}, vec![{sizes}])?"),
            Category::Integral => format!("IntTensor::from_vec({data}, vec![{sizes}])?"),
            Category::Floating => {
                format!("Tensor::from_storage(TensorStorage::cpu({data}), vec![{sizes}], {})?", input.requires_grad)
            }
            Category::Complex => {
                let [real, imaginary] = real_and_imaginary(input.dtype, &input.data);
                format!("ComplexTensor::from_re_im({real}, {imaginary}, vec![{sizes}])?")
            }
        }
    }

    fn parts(&self, variable: &str, value: &TensorValue) -> (String, String) {
        let elements = match value.dtype.category() {
            Category::Floating => format!("{variable}.data_vec()?"),
            Category::Complex => format!(
                "{variable}.re().iter().zip({variable}.im()).map(|(&re, &im)| Complex {{ re, im }}).collect::<Vec<_>>()"
            ),
            _ => format!("{variable}.data()?"),
        };
        (format!("{variable}.shape()"), elements)
    }

    fn helper(&self, function: &str, arguments: &[Bound], dtype: Option<DType>) -> Option<String> {
        Some(match (function, arguments) {
            ("shape", [Bound::Shape(ShapeArg::Size(size))]) => format!("[{size}]"),
            ("shape", [Bound::Shape(ShapeArg::Sizes(sizes))]) => format!("[{}]", list(sizes)),
            ("positions", [Bound::Tensor(index)]) => {
                format!("{}.data()?.iter().map(|&index| index as usize).collect::<Vec<_>>()", index.name)
            }
            ("perhaps", [Bound::Number(bound)]) => format!("Some({})", number(*bound, dtype)),
            ("perhaps", [_]) => "None".to_owned(),
            ("taken_off", [Bound::Number(Scalar::Int(correction)), _]) => format!("{correction}.0"),
            ("taken_off", [Bound::Number(correction), _]) => number(*correction, None),
            ("taken_off", [_, Bound::Flag(false)]) => "0.0".to_owned(),
            ("taken_off", [_, _]) => "1.0".to_owned(),
            _ => return None,
        })
    }

    fn call(&self, step: &Step, arguments: &[Bound]) -> Option<Written> {
        Some(match (step.op, arguments) {
            (Op::Backward, [Bound::Tensor(of), Bound::Nothing]) => {
                Written::statement(format!("{}.backward()?;", of.name))
            }
            (Op::Backward, [Bound::Tensor(of), Bound::Tensor(gradient)]) => {
                Written::statement(format!("{}.backward_with_gradient(&{})?;", of.name, gradient.name))
            }
            (Op::Grad, [Bound::Tensor(of)]) => {
                Written { is_option: true, ..Written::of(format!("{}.grad()?", of.name)) }
            }
            (Op::BroadcastTensors, [Bound::Tensors(tensors)]) if !tensors.is_empty() => {
                let tensors: Vec<String> = tensors.iter().map(|tensor| format!("{}.clone()", tensor.name)).collect();
                Written::result_of(format!("broadcast_tensors(&[{}])", tensors.join(", ")))
            }
            (Op::Einsum, [Bound::Text(equation), Bound::Tensors(tensors)]) => {
                let (first, others) = tensors.split_first()?;
                let others: Vec<String> = others.iter().map(|tensor| format!("&{}", tensor.name)).collect();
                Written::result_of(format!("{}.einsum({equation:?}, &[{}])", first.name, others.join(", ")))
            }
            _ => return None,
        })
    }
}
