//! The names that people write for dtypes.

use broadcheck_protocol::tensor::DType;

use super::ast::{Expr, ExprKind};

/// The dtype called `name` by PyTorch, NumPy, JAX or a C++ message, with or without `torch.` before it.
pub fn dtype(name: &str) -> Option<DType> {
    let name = name.trim().rsplit('.').next()?;
    let name = name.strip_suffix("Tensor").unwrap_or(name);
    DType::parse(name).or_else(|| {
        Some(match name {
            "f64" | "double" | "float_" => DType::Float64,
            "f32" | "float" | "single" => DType::Float32,
            "f16" | "half" => DType::Float16,
            "bf16" => DType::Bfloat16,
            "i64" | "s64" | "long" | "int_" => DType::Int64,
            "i32" | "s32" | "int" => DType::Int32,
            "i16" | "s16" | "short" => DType::Int16,
            "i8" | "s8" | "char" => DType::Int8,
            "u8" | "byte" => DType::Uint8,
            "b8" | "b1" | "pred" | "bool_" => DType::Bool,
            "c64" | "cfloat" => DType::Complex64,
            "c128" | "cdouble" => DType::Complex128,
            _ => return DType::ALL.iter().copied().find(|dtype| dtype.libtorch_name() == name),
        })
    })
}

/// The dtype that an expression names: `torch.long`, `np.float64`, `'float32'`, `float`. Python's own types stand for
/// the widest dtype of their kind, and so do NumPy's.
pub fn dtype_of(expr: &Expr) -> Option<DType> {
    let name = match &expr.kind {
        ExprKind::Str(name) => name.clone(),
        _ => expr.dotted()?,
    };
    match name.as_str() {
        "float" | "np.float" | "numpy.float" => Some(DType::Float64),
        "int" | "np.int" | "numpy.int" => Some(DType::Int64),
        "complex" | "np.complex" | "numpy.complex" => Some(DType::Complex128),
        name => dtype(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_its_names() {
        for &own in DType::ALL {
            for name in [own.name(), own.libtorch_name()] {
                assert_eq!(dtype(name), Some(own), "{name}");
            }
            assert_eq!(dtype(&format!("torch.{own}")), Some(own));
            assert_eq!(dtype(&format!("torch.cuda.{}Tensor", own.libtorch_name())), Some(own));
        }
        assert_eq!(dtype("torch.float"), Some(DType::Float32));
        for none in ["", "x", "torch", "Tensor", "float128"] {
            assert_eq!(dtype(none), None, "{none}");
        }
    }
}
