//! Layers, attention, and losses whose target has another rank than their input.

use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::shape::bracketed;
use broadcheck_protocol::tensor::{DType, Scalar, Shape};

use super::{Beside, apply, shape};
use crate::bench::{Bench, Stop};
use crate::value::{Arguments, Value};

/// The function that a layer calls.
pub fn layer(name: &str) -> Option<&'static str> {
    Some(match name {
        "Linear" => "linear",
        "CrossEntropyLoss" => "cross_entropy",
        "NLLLoss" => "nll_loss",
        "BCELoss" => "binary_cross_entropy",
        "LayerNorm" => "layer_norm",
        "Embedding" => "embedding",
        "Flatten" => "flatten",
        _ => return None,
    })
}

/// The tensors that a layer has of its own, by the sizes that it was made with, and what it passes on.
pub fn weights(bench: &mut Bench, name: &str, made: &Arguments) -> Vec<Value> {
    let int = |at: usize, names: &[&str]| made.get(at, names).and_then(Value::int);
    let mut tensor = |name: &str, sizes: Vec<i64>| {
        let shape = Shape::new(sizes).unwrap_or_default();
        Value::Tensor(bench.declare(name, shape, DType::Float32, None))
    };
    match name {
        "Linear" => {
            let (Some(inputs), Some(outputs)) = (int(0, &["in_features"]), int(1, &["out_features"])) else {
                return Vec::new();
            };
            let bias = !matches!(made.get(2, &["bias"]), Some(Value::Bool(false)));
            let mut all = vec![tensor("weight", vec![outputs, inputs])];
            all.extend(bias.then(|| tensor("bias", vec![outputs])));
            all
        }
        "Embedding" => match (int(0, &["num_embeddings"]), int(1, &["embedding_dim"])) {
            (Some(count), Some(width)) => vec![tensor("weight", vec![count, width])],
            _ => Vec::new(),
        },
        "LayerNorm" => made.positional.iter().take(1).cloned().collect(),
        "Flatten" => vec![Value::Int(int(0, &["start_dim"]).unwrap_or(1))],
        _ => Vec::new(),
    }
}

/// `linear`: `x @ weight.T + bias`; a matrix with a bias is one `addmm` (`linear` in ATen/native/Linear.cpp).
pub(super) fn linear(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let [x, weight] = [function.tensor(arguments, 0, &["input"])?, function.tensor(arguments, 1, &["weight"])?];
    let bias = arguments.get(2, &["bias"]).and_then(Value::tensor);
    let bias = bias.map_or(Arg::Nothing, Arg::from);
    apply(bench, Op::Linear, vec![x.into(), weight.into(), bias]).map(Value::Tensor)
}

/// `scaled_dot_product_attention`, without the dropout and the scale, which change no shape.
pub(super) fn attention(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let query = function.tensor(arguments, 0, &["query"])?;
    let key = function.tensor(arguments, 1, &["key"])?;
    let value = function.tensor(arguments, 2, &["value"])?;
    let mask = arguments.get(3, &["attn_mask"]).and_then(Value::tensor).map_or(Arg::Nothing, Arg::from);
    let causal = matches!(arguments.get(5, &["is_causal"]), Some(Value::Bool(true)));
    let dropout = Arg::Number(Scalar::Float(0.0));
    let all = vec![query.into(), key.into(), value.into(), mask, dropout, Arg::Flag(causal), Arg::Nothing];
    apply(bench, Op::ScaledDotProductAttention, all).map(Value::Tensor)
}

/// `cross_entropy` and `nll_loss`: the target has the classes' dimension less, or the input's own shape
/// (`cross_entropy_loss`, `nll_loss_nd_symint`).
pub(super) fn cross_entropy(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let [input, target] = [function.tensor(arguments, 0, &["input"])?, function.tensor(arguments, 1, &["target"])?];
    let (own, wanted) = (bench.shape(input).sizes().to_vec(), bench.shape(target).sizes().to_vec());
    let reduced = !matches!(arguments.keyword(&["reduction"]), Some(Value::Text(text)) if text == "none");
    let probabilities = function.name == "cross_entropy" && own == wanted;
    let result = match own.len() {
        _ if probabilities => {
            own.iter().enumerate().filter(|(at, _)| *at != usize::from(own.len() > 1)).map(|(_, size)| *size).collect()
        }
        0 => return Err(Stop::rejected("Expected input to have 1 or more dimensions")),
        1 => Vec::new(),
        _ if wanted.first() != own.first() => {
            return Err(Stop::rejected(format!(
                "Expected input batch_size ({}) to match target batch_size ({}).",
                own[0],
                wanted.first().copied().unwrap_or(0)
            )));
        }
        2 if wanted.len() > 1 => {
            return Err(Stop::rejected("0D or 1D target tensor expected, multi-target not supported"));
        }
        // `check_inputs_nll_loss2d`.
        4 if wanted.len() != 3 => {
            return Err(Stop::rejected(format!(
                "only batches of spatial targets supported (3D tensors) but got targets of dimension: {}",
                wanted.len()
            )));
        }
        4 if wanted[1..] != own[2..] => {
            let (own, wanted) = (bracketed(&own), bracketed(&wanted));
            return Err(Stop::rejected(format!("size mismatch (got input: {own} , target: {wanted}")));
        }
        rank if rank > 2 && (wanted.len() + 1 != rank || wanted[1..] != own[2..]) => {
            let expected: Vec<i64> = own.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, size)| *size).collect();
            let (expected, got) = (bracketed(&expected), bracketed(&wanted));
            return Err(Stop::rejected(format!("Expected target size {expected}, got {got}")));
        }
        _ => wanted.clone(),
    };
    let result = if reduced { Vec::new() } else { result };
    let dtype = bench.dtype(input);
    Ok(Value::Tensor(bench.declare(function.name, shape(result)?, dtype, None)))
}

/// `binary_cross_entropy`: unlike the other losses, it rejects a target of another shape (`torch/nn/functional.py`).
pub(super) fn binary_cross_entropy(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let [input, target] = [function.tensor(arguments, 0, &["input"])?, function.tensor(arguments, 1, &["target"])?];
    let python = |sizes: &[i64]| format!("torch.Size({})", bracketed(sizes));
    let (own, wanted) = (bench.shape(input).sizes().to_vec(), bench.shape(target).sizes().to_vec());
    if own != wanted {
        return Err(Stop::rejected(format!(
            "Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have the same size.",
            python(&wanted),
            python(&own)
        )));
    }
    let reduced = !matches!(arguments.keyword(&["reduction"]), Some(Value::Text(text)) if text == "none");
    let dtype = bench.dtype(input);
    let result = if reduced { Vec::new() } else { own };
    Ok(Value::Tensor(bench.declare(function.name, shape(result)?, dtype, None)))
}

/// `layer_norm`, without the number that is added to the variance, which changes no shape.
pub(super) fn layer_norm(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let input = function.tensor(arguments, 0, &["input"])?;
    let normalized = arguments.get(1, &["normalized_shape"]).and_then(Value::ints).unwrap_or_default();
    let [weight, bias] = [(2, "weight"), (3, "bias")]
        .map(|(at, name)| arguments.get(at, &[name]).and_then(Value::tensor).map_or(Arg::Nothing, Arg::from));
    let eps = Arg::Number(Scalar::Float(1e-5));
    apply(bench, Op::LayerNorm, vec![input.into(), Arg::Ints(normalized), weight, bias, eps]).map(Value::Tensor)
}

/// `embedding`: a row of the weight for each index.
pub(super) fn embedding(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let [index, weight] = [function.tensor(arguments, 0, &["input"])?, function.tensor(arguments, 1, &["weight"])?];
    let mut sizes = bench.shape(index).sizes().to_vec();
    sizes.extend(bench.shape(weight).sizes().get(1));
    let dtype = bench.dtype(weight);
    Ok(Value::Tensor(bench.declare(function.name, shape(sizes)?, dtype, None)))
}
