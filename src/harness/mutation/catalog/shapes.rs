//! Wrong sizes, dtypes, strides and storages.

use crate::mutation::Mutant;
use crate::mutation::planted::{Seen, reshape, set};
use crate::mutation::wrong_replies::{self, tensors_mut};
use crate::ops::{Family, Form, Op, ResultType};
use crate::program::{Arg, Program, Reply, StorageRef, TensorValue};
use crate::tensor::{Category, DType, Layout, Shape};

use crate::mutation::catalog::mutants;

pub(super) const SHAPES: &[Mutant] = mutants! { "shapes"
    "one-before" "each result has an extra leading 1" Lies => wrong_replies::wrong_shape;
    "aligned-from-the-left" "sizes are aligned at the first dimension, not at the last" Lies => aligned_from_the_left;
    "one-against-zero" "a 1 and a 0 broadcast to 1" Tensors => |seen, tensor| {
        let ones = seen.operands().iter().any(|operand| operand.shape.sizes().contains(&1));
        if seen.is_elementwise() && ones && tensor.shape.sizes().contains(&0) {
            reshape(tensor, tensor.shape.sizes().iter().map(|size| (*size).max(1)).collect());
        }
    };
    "leading-one-dropped" "a broadcast result loses a leading 1" Tensors => |seen, tensor| {
        if seen.is_elementwise() && seen.broadcasts(tensor) && tensor.shape.sizes().first() == Some(&1) {
            reshape(tensor, tensor.shape.sizes()[1..].to_vec());
        }
    };
    "number-has-a-dimension" "results without dimensions have one of size 1" Tensors => |seen, tensor| {
        if seen.is_elementwise() && tensor.shape.rank() == 0 {
            reshape(tensor, vec![1]);
        }
    };
    "unsqueeze-from-the-end" "unsqueeze counts a negative dimension without the new one" Steps => |_, step| {
        if let (Op::Unsqueeze, Some(Arg::Int(dim))) = (step.op, step.args.get_mut(1))
            && *dim < -1
        {
            *dim += 1;
        }
    };
    "squeeze-all" "squeeze of a dimension squeezes all of them" Steps => |_, step| {
        if step.op == Op::Squeeze {
            step.args[1] = Arg::Nothing;
        }
    };
    "flatten-all" "flatten ignores end_dim" Steps => |_, step| {
        if step.op == Op::Flatten {
            step.args[2] = Arg::Int(-1);
        }
    };
    "moved-back" "movedim swaps source and destination" Steps => |_, step| {
        if step.op == Op::Movedim {
            step.args.swap(1, 2);
        }
    };
    "third-operand-alone" "broadcast_tensors of three leaves the third as it is" Outcomes => |seen, answer| {
        let operands = seen.operands();
        if let (Op::BroadcastTensors, [_, _, third], Some(last)) =
            (seen.step().op, &operands[..], tensors_mut(&mut answer.outcome).last_mut())
            && operands[0].shape != operands[1].shape
        {
            reshape(last, third.shape.sizes().to_vec());
        }
    };
    "outer-transposed" "outer swaps its operands" Steps => |_, step| {
        if step.op == Op::Outer {
            step.args.swap(0, 1);
        }
    };
    "empty-only" "an empty result of more than one dimension has one" Tensors => |seen, tensor| {
        if seen.is_elementwise() && tensor.shape.numel() == 0 && tensor.shape.rank() > 1 {
            reshape(tensor, vec![0]);
        }
    };
};

/// An operand with fewer dimensions gets its ones behind its sizes, if it is an input that is used once.
fn aligned_from_the_left(program: &Program) -> Reply {
    let honest = wrong_replies::honest(program);
    let mut changed = program.clone();
    for (at, step) in program.steps.iter().enumerate() {
        let seen = Seen { program, reply: &honest, at };
        let rank = seen.operands().iter().map(|operand| operand.shape.rank()).max().unwrap_or(0);
        for used in step.uses().filter(|used| used.value < program.inputs.len() && seen.is_elementwise()) {
            let once = program.steps.iter().flat_map(|step| step.uses()).filter(|other| *other == used).count() == 1;
            let shape = &program.inputs[used.value].shape;
            if once && shape.rank() < rank && step.form == Form::Functional {
                let mut sizes = shape.sizes().to_vec();
                sizes.resize(rank, 1);
                changed.inputs[used.value].shape = Shape::new(sizes).expect("ones change no count");
            }
        }
    }
    let mut reply = wrong_replies::honest(&changed);
    // What the caller has is as it was.
    for (after, before) in reply.inputs.iter_mut().zip(&honest.inputs) {
        if after.shape != before.shape {
            *after = before.clone();
        }
    }
    reply
}

fn convert(tensor: &mut TensorValue, dtype: DType) {
    let elements = tensor.scalars();
    set(tensor, dtype, &elements);
}

pub(super) const DTYPES: &[Mutant] = mutants! { "dtypes"
    "wrong-dtype" "results are float32, or float64 where float32 is right" Lies => wrong_replies::wrong_dtype;
    "no-dimensions-like-any" "a tensor without dimensions takes part in promotion like any other" Tensors
        => |seen, tensor| {
            let mut dtypes = seen.operands().into_iter().map(|operand| operand.dtype);
            let promoted = seen.step().op.info().result == ResultType::Promoted && seen.step().form == Form::Functional;
            if let (Some(first), true) = (dtypes.next(), promoted) {
                let all = dtypes.fold(first, DType::promote);
                if all.category() == tensor.dtype.category() && all != tensor.dtype {
                    convert(tensor, all);
                }
            }
        };
    "huber-in-float32" "huber_loss of float64 is float32" Tensors => |seen, tensor| {
        if seen.step().op == Op::HuberLoss && tensor.dtype == DType::Float64 {
            convert(tensor, DType::Float32);
        }
    };
    "unsigned-wins" "uint8 and int8 make uint8" Tensors => |seen, tensor| {
        let dtypes: Vec<DType> = seen.operands().iter().map(|operand| operand.dtype).collect();
        if tensor.dtype == DType::Int16 && dtypes.contains(&DType::Uint8) && dtypes.contains(&DType::Int8) {
            convert(tensor, DType::Uint8);
        }
    };
    "half-and-half" "float16 and bfloat16 make float16" Tensors => |seen, tensor| {
        let dtypes: Vec<DType> = seen.operands().iter().map(|operand| operand.dtype).collect();
        let halves = dtypes.contains(&DType::Float16) && dtypes.contains(&DType::Bfloat16);
        if halves && tensor.dtype == DType::Float32 && seen.step().form == Form::Functional {
            convert(tensor, DType::Float16);
        }
    };
    "quotient-of-integers" "the quotient of integers is an integer" Tensors => |seen, tensor| {
        let whole = seen.operands().iter().all(|operand| operand.dtype.category() == Category::Integral);
        if seen.step().op == Op::Div && whole && tensor.dtype == DType::Float32 {
            convert(tensor, DType::Int64);
        }
    };
    "sum-of-bools" "the sum of small integers keeps their dtype" Tensors => |seen, tensor| {
        let first = seen.operands().first().map_or(tensor.dtype, |operand| operand.dtype);
        if seen.step().op == Op::Sum && first.category() < Category::Floating && seen.step().form == Form::Functional {
            convert(tensor, first);
        }
    };
    "comparison-of-its-operands" "comparisons return uint8" Tensors => |seen, tensor| {
        if seen.step().op.info().result == ResultType::Bool && tensor.dtype == DType::Bool {
            convert(tensor, DType::Uint8);
        }
    };
    "number-decides" "a fractional scalar promotes integers to float64" Tensors => |seen, tensor| {
        use crate::tensor::Scalar;
        let fraction = seen.step().args.iter().any(|arg| matches!(arg, Arg::Number(Scalar::Float(_))));
        let whole = seen.operands().iter().all(|operand| operand.dtype.category() < Category::Floating);
        if seen.is_elementwise() && fraction && whole && tensor.dtype == DType::Float32 {
            convert(tensor, DType::Float64);
        }
    };
};

fn fresh(seen: &Seen, tensor: &mut TensorValue) {
    // A number that nothing else has.
    tensor.storage = Some(StorageRef { id: seen.program.inputs.len() + seen.program.steps.len() + seen.at, offset: 0 });
}

pub(super) const LAYOUT: &[Mutant] = mutants! { "layout and aliasing"
    "all-row-by-row" "every tensor reports row-major strides" Lies => wrong_replies::wrong_strides;
    "stride-zero-lost" "expanded tensors report the strides of a copy" Tensors => |seen, tensor| {
        if [Op::Expand, Op::BroadcastTo, Op::ExpandAs, Op::BroadcastTensors].contains(&seen.step().op) {
            tensor.strides = Some(Layout::contiguous(tensor.shape.clone()).strides);
        }
    };
    "result-row-by-row" "an elementwise result does not have the layout of its operands" Tensors => |seen, tensor| {
        if seen.is_elementwise() && seen.step().form == Form::Functional {
            tensor.strides = Some(Layout::contiguous(tensor.shape.clone()).strides);
        }
    };
    "offset-lost" "a view reports offset 0" Tensors => |seen, tensor| {
        if seen.step().op.info().family() == Family::Views {
            tensor.storage = tensor.storage.map(|storage| StorageRef { offset: 0, ..storage });
        }
    };
    "views-are-copies" "every view reports a storage of its own" Lies => wrong_replies::lost_alias;
    "reshape-copies" "reshape and flatten copy where they could view" Tensors => |seen, tensor| {
        if [Op::Reshape, Op::ReshapeAs, Op::Flatten].contains(&seen.step().op) {
            fresh(seen, tensor);
        }
    };
    "contiguous-copies" "contiguous copies contiguous tensors" Tensors => |seen, tensor| {
        if seen.step().op == Op::Contiguous {
            fresh(seen, tensor);
        }
    };
    "clone-is-no-copy" "clone returns the tensor itself" Outcomes => |seen, answer| {
        let Some(used) = seen.step().uses().next().filter(|_| seen.step().op == Op::Clone) else { return };
        for tensor in tensors_mut(&mut answer.outcome) {
            if used.value < seen.program.inputs.len() {
                tensor.storage = Some(StorageRef { id: used.value, offset: 0 });
            }
        }
    };
    "permute-loses-strides" "transposed tensors have row-major strides" Tensors => |seen, tensor| {
        if [Op::Transpose, Op::Permute, Op::T].contains(&seen.step().op) && seen.step().form == Form::Functional {
            tensor.strides = Some(Layout::contiguous(tensor.shape.clone()).strides);
        }
    };
};
