//! Messages about shapes that are not in the table of rejections: those of `torch.nn`, of older releases, of operations
//! that broadcheck has not, and of NumPy and JAX.

use std::sync::LazyLock;

use broadcheck_protocol::error::Class;
use broadcheck_protocol::messages::{Found, Template};

/// A message that comes from elsewhere than the table.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    /// Its name, for programs.
    pub name: &'static str,
    /// The class that a rejection of the table would have.
    pub class: Class,
    message: &'static str,
}

/// The message that fits best at the start of a text, or anywhere in it.
pub fn find(text: &str, anywhere: bool) -> Option<(&'static Foreign, Found)> {
    static TEMPLATES: LazyLock<Vec<(&Foreign, Template)>> = LazyLock::new(|| {
        MESSAGES.iter().filter_map(|foreign| Some((foreign, Template::new(foreign.message)?))).collect()
    });
    let found = |template: &Template| if anywhere { template.find(text) } else { template.read(text) };
    let all = TEMPLATES.iter().filter_map(|(foreign, template)| found(template).map(|found| (*foreign, found)));
    all.max_by_key(|(_, found)| found.literal)
}

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident => $class:ident, $message:literal;)*) => {
        const MESSAGES: &[Foreign] = &[$(
            $(#[$doc])*
            Foreign { name: stringify!($name), class: Class::$class, message: $message }
        ),*];
    };
}

messages! {
    // Losses of torch.nn.
    BatchSize => SizeMismatch,
        "Expected input batch_size ({input:integer}) to match target batch_size ({target:integer}).";
    TargetSizeWarning => SizeMismatch,
        "Using a target size (torch.Size({target:sizes})) that is different to the input size \
         (torch.Size({input:sizes}))";
    TargetSize => SizeMismatch,
        "Target size (torch.Size({target:sizes})) must be the same as input size (torch.Size({input:sizes}))";
    TargetShape => SizeMismatch, "Expected target size {expected:sizes}, got {got:sizes}";
    TargetRank => Dimension, "1D target tensor expected, multi-target not supported";
    SpatialTargetRank => Dimension,
        "only batches of spatial targets supported (3D tensors) but got targets of dimension: {got:integer}";
    SpatialTargetSize => Dimension,
        "only batches of spatial targets supported (3D tensors) but got targets of size: : {got:sizes}";
    LossSize => SizeMismatch, "input and target shapes do not match: input {input:sizes}, target {target:sizes}";
    // Layers of torch.nn.
    ConvolutionChannels => SizeMismatch,
        "Given groups={groups:integer}, weight of size {weight:sizes}, expected input{input:sizes} to have \
         {expected:integer} channels, but got {got:integer} channels instead";
    ConvolutionRank => Dimension,
        "Expected {unbatched:integer}D (unbatched) or {batched:integer}D (batched) input to {function:name}, but got \
         input of size: {input:sizes}";
    ConvolutionWeightRank => Dimension,
        "Expected {expected:integer}-dimensional input for {rank:integer}-dimensional weight {weight:sizes}, but got \
         {got:integer}-dimensional input of size {input:sizes} instead";
    KernelSize => SizeMismatch,
        "Calculated padded input size per channel: ({input:text}). Kernel size: ({kernel:text}). Kernel size can't be \
         greater than actual input size";
    NormalizedShape => SizeMismatch,
        "Given normalized_shape={normalized:sizes}, expected input with shape {expected:text}, but got input of size\
         {input:sizes}";
    RunningMean => SizeMismatch, "running_mean should contain {expected:integer} elements not {got:integer}";
    WeightElements => SizeMismatch, "weight should contain {expected:integer} elements not {got:integer}";
    BatchNormRank => Dimension, "expected {expected:text} input (got {got:integer}D input)";
    BatchNormSingle => SizeMismatch,
        "Expected more than 1 value per channel when training, got input size torch.Size({input:sizes})";
    RecurrentInput => SizeMismatch,
        "input.size(-1) must be equal to input_size. Expected {expected:integer}, got {got:integer}";
    RecurrentHidden => SizeMismatch, "Expected hidden size {expected:sizes}, got {got:sizes}";
    RecurrentState => SizeMismatch, "Expected hidden[{index:integer}] size {expected:sizes}, got {got:sizes}";
    AttentionMask => SizeMismatch,
        "The shape of the 2D attn_mask is torch.Size({mask:sizes}), but should be {expected:sizes}.";
    AttentionMask3 => SizeMismatch,
        "The shape of the 3D attn_mask is torch.Size({mask:sizes}), but should be {expected:sizes}.";
    EmbeddingWidth => SizeMismatch,
        "was expecting embedding dimension of {expected:integer}, but got {got:integer}";
    StateDict => SizeMismatch,
        "size mismatch for {parameter:name}: copying a param with shape torch.Size({checkpoint:sizes}) from \
         checkpoint, the shape in current model is torch.Size({model:sizes}).";
    // Operations that join tensors.
    CatSizes => SizeMismatch,
        "Sizes of tensors must match except in dimension {dim:integer}. Expected size {expected:integer} but got size \
         {got:integer} for tensor number {tensor:integer} in the list.";
    CatSizes18 => SizeMismatch,
        "Sizes of tensors must match except in dimension {dim:integer}. Got {got:integer} and {expected:integer} in \
         dimension {at:integer}";
    CatRanks => Dimension, "Tensors must have same number of dimensions: got {a:integer} and {b:integer}";
    CatScalar => Dimension, "zero-dimensional tensor (at position {tensor:integer}) cannot be concatenated";
    StackSizes => SizeMismatch,
        "stack expects each tensor to be equal size, but got {first:sizes} at entry {at:integer} and {other:sizes} at \
         entry {entry:integer}";
    SplitSizes => SizeMismatch,
        "split_with_sizes expects split_sizes to sum exactly to {size:integer} (input tensor's size at dimension \
         {dim:integer}), but got split_sizes={sizes:sizes}";
    TooManyValues => Dimension, "too many values to unpack (expected {expected:integer})";
    NotEnoughValues => Dimension, "not enough values to unpack (expected {expected:integer}, got {got:integer})";
    RepeatRank => Dimension,
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor";
    EinsumOperands19 => EinsumOperand,
        "operands do not broadcast with remapped shapes [original->remapped]: {shapes:text}";
    // A tensor where Python needs a number, and the reverse.
    AmbiguousBool => ItemCount, "Boolean value of Tensor with more than one value is ambiguous";
    OneElement => ItemCount, "only one element tensors can be converted to Python scalars";
    OneInteger => ItemCount, "only integer tensors of a single element can be converted to an index";
    // libtorch, in other releases and on other devices.
    MatrixSizes19 => ProductShape, "mat1 dim 1 must match mat2 dim 0";
    MatrixSizes15 => ProductShape, "size mismatch, m1: {a:text}, m2: {b:text} at {place:name}";
    MatrixSizes15Bare => ProductShape, "size mismatch, m1: {a:text}, m2: {b:text}]";
    MatrixVector15 => ProductShape, "size mismatch, {a:sizes} x {b:sizes} at {place:name}";
    BatchArgument => ProductShape,
        "Expected tensor to have size {expected:integer} at dimension {dim:integer}, but got size {got:integer} for \
         argument #{argument:integer} '{name:name}' (while checking arguments for {function:name})";
    BatchMatrices19 => ProductShape, "batch1 dim 2 must match batch2 dim 1";
    DotSizes19 => ProductShape,
        "inconsistent tensor size, expected tensor {a:sizes} and src {b:sizes} to have the same number of elements";
    ExpandSize04 => Expand,
        "The expanded size of the tensor ({wanted:integer}) must match the existing size ({existing:integer}) at \
         non-singleton dimension {dim:integer}";
    Modified212 => Autograd,
        "one of the variables needed for gradient computation has been modified by an inplace operation: \
         [{tensor:text} {shape:sizes}]{node:node} is at version {version:integer}; expected version {expected:integer} \
         instead.";
    IndexDtype19 => Dtype, "tensors used as indices must be long, byte or bool tensors";
    MatrixDtype => Dtype, "mat1 and mat2 must have the same dtype";
    ScalarTypeArgument => Dtype,
        "Expected object of scalar type {expected:dtype} but got scalar type {got:dtype} for argument #\
         {argument:integer} '{name:name}' in call to {function:name}";
    NoMemory => ImpossibleSize, "can't allocate memory: you tried to allocate {bytes:integer} bytes";
    NoMemoryCuda => ImpossibleSize, "CUDA out of memory. Tried to allocate {amount:text}";
    DeviceAssert => Dimension, "CUDA error: device-side assert triggered";
    // NumPy.
    NumpyOperands => SizeMismatch, "operands could not be broadcast together with shapes {shapes:shapes}";
    NumpyRemapped => SizeMismatch,
        "operands could not be broadcast together with remapped shapes [original->remapped]: {shapes:text}";
    NumpyObjects => SizeMismatch, "shape mismatch: objects cannot be broadcast to a single shape";
    NumpyAssignment => SizeMismatch, "could not broadcast input array from shape {from:sizes} into shape {into:sizes}";
    NumpyOutput => OutputShape,
        "non-broadcastable output operand with shape {output:sizes} doesn't match the broadcast shape \
         {broadcast:sizes}";
    NumpyMatmul => ProductShape,
        "matmul: Input operand {operand:integer} has a mismatch in its core dimension {dim:integer}, with gufunc \
         signature {signature:text} (size {got:integer} is different from {expected:integer})";
    NumpyDot => ProductShape,
        "shapes {a:sizes} and {b:sizes} not aligned: {left:integer} (dim {left_dim:integer}) != {right:integer} (dim \
         {right_dim:integer})";
    NumpyConcatenate => SizeMismatch,
        "all the input array dimensions except for the concatenation axis must match exactly, but along dimension \
         {dim:integer}, the array at index {a:integer} has size {first:integer} and the array at index {b:integer} has \
         size {second:integer}";
    NumpyStack => SizeMismatch, "all input arrays must have the same shape";
    NumpyReshape => View, "cannot reshape array of size {size:integer} into shape {shape:sizes}";
    NumpyMask => SizeMismatch,
        "boolean index did not match indexed array along dimension {dim:integer}; dimension is {size:integer} but \
         corresponding boolean dimension is {mask:integer}";
    // JAX and TensorFlow.
    JaxOperation => SizeMismatch, "{function:name} got incompatible shapes for broadcasting: {shapes:shapes}";
    JaxShapes => SizeMismatch, "Incompatible shapes for broadcasting: shapes={shapes:text}";
    TensorflowShapes => SizeMismatch, "Incompatible shapes: {a:sizes} vs. {b:sizes}";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_read_and_its_own_text_is_found() {
        for foreign in MESSAGES {
            assert!(Template::new(foreign.message).is_some(), "{}", foreign.name);
            let mut text = foreign.message.to_owned();
            let facts = [
                ("integer", "3"),
                ("sizes", "[2, 3]"),
                ("shapes", "(2,) (3,)"),
                ("dtype", "Float"),
                ("name", "add"),
                ("text", "[1 x 2]"),
                ("node", ", which is output 0 of AddBackward0,"),
            ];
            while let Some((start, end)) = text.find('{').zip(text.find('}')) {
                let kind = text[start..end].rsplit_once(':').map_or("text", |(_, kind)| kind);
                let fact = facts.iter().find(|(name, _)| *name == kind).expect("a kind").1;
                text.replace_range(start..=end, fact);
            }
            let (found, _) = find(&text, false).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.name, foreign.name, "{text}");
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut names: Vec<&str> = MESSAGES.iter().map(|foreign| foreign.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
