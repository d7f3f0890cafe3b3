//! The names of functions: those of the operation table with every alias, Python's operators, and the functions beside
//! the table that people combine with them.

use broadcheck_protocol::ops::{Form, Op};

use crate::beside::Beside;

/// A function that a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// One of the operation table, in a form that its name says.
    Table(Op, Form),
    /// One that the table lacks.
    Beside(Beside),
}

/// The function that a name means, as PyTorch's users write it: `add`, `torch.add`, `Tensor.add_`, `F.mse_loss`,
/// `torch.linalg.cross`, `nn.MSELoss`, `np.matmul`, and libtorch's own `torch.ops.aten.add.Tensor`.
///
/// ```
/// use broadcheck_explain::names::{Function, function};
/// use broadcheck_protocol::ops::{Form, Op};
///
/// assert_eq!(function("torch.multiply"), Some(Function::Table(Op::Mul, Form::Functional)));
/// assert_eq!(function("x.add_"), Some(Function::Table(Op::Add, Form::InPlace)));
/// assert_eq!(function("nn.MSELoss"), Some(Function::Table(Op::MseLoss, Form::Functional)));
/// assert_eq!(function("torch.ops.aten.add.Tensor"), Some(Function::Table(Op::Add, Form::Functional)));
/// assert_eq!(function("torch.ad"), None);
/// ```
pub fn function(path: &str) -> Option<Function> {
    if let Some(name) = operator_name(path) {
        return aten(name);
    }
    let name = path.rsplit('.').next().unwrap_or(path);
    let scoped = |scope: &str| {
        let mut parts = path.rsplit('.').skip(1);
        parts.next() == Some(scope)
    };
    for scope in ["linalg", "special"] {
        if scoped(scope) {
            return table(&format!("{scope}_{name}"))
                .or_else(|| renamed(&format!("{scope}.{name}")))
                .or_else(|| table(name));
        }
    }
    renamed(name).or_else(|| Beside::named(name).map(Function::Beside)).or_else(|| table(name))
}

/// The name of libtorch's operator in `torch.ops.aten.add.Tensor`, without the overload; `None` for any other path.
pub fn operator_name(path: &str) -> Option<&str> {
    let (_, name) = path.split_once("aten.").or_else(|| path.split_once("aten::"))?;
    Some(name.split('.').next().unwrap_or(name))
}

/// Returns whether the name is that of a class, which makes a layer: `nn.Linear`, and not `torch.ops.aten.add.Tensor`.
pub fn is_layer(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    name.starts_with(|c: char| c.is_ascii_uppercase()) && operator_name(path).is_none()
}

/// The row of an operator of libtorch. `index` and `index_put` take tensors there, not the items of a subscript.
fn aten(name: &str) -> Option<Function> {
    let row = |name: &str| {
        let schema = |op: &Op| op.info().schema.split('.').next() == Some(name);
        Op::ALL.iter().copied().filter(|op| *op != Op::Index).find(schema)
    };
    if let Some(op) = row(name) {
        return Some(Function::Table(op, Form::Functional));
    }
    let in_place = name.strip_suffix('_').and_then(row).filter(|op| op.info().forms.contains(&Form::InPlace));
    in_place.map(|op| Function::Table(op, Form::InPlace)).or_else(|| table(name))
}

/// The function of a binary operator of Python.
pub fn operator(sign: &str) -> Option<Function> {
    let name = match sign {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "div",
        "//" => "floor_divide",
        "%" => "remainder",
        "**" => "pow",
        "@" => "matmul",
        "&" => "__and__",
        "|" => "__or__",
        "^" => "__xor__",
        "<<" => "__lshift__",
        ">>" => "__rshift__",
        "==" => "eq",
        "!=" => "ne",
        "<" => "lt",
        "<=" => "le",
        ">" => "gt",
        ">=" => "ge",
        _ => return None,
    };
    table(name)
}

/// The operator that Python has for an operation.
pub fn sign(op: Op) -> Option<&'static str> {
    const SIGNS: &[&str] =
        &["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="];
    SIGNS.iter().copied().find(|sign| operator(sign) == Some(Function::Table(op, Form::Functional)))
}

/// A row of the table by its name or an alias, with `_` for in place.
fn table(name: &str) -> Option<Function> {
    let aliased =
        |name: &str| Op::ALL.iter().copied().find(|op| op.info().aliases.iter().any(|(alias, _)| *alias == name));
    if let Some((op, form)) = Op::parse(name) {
        return Some(Function::Table(op, form));
    }
    if let Some(op) = aliased(name) {
        return Some(Function::Table(op, Form::Functional));
    }
    let op = aliased(name.strip_suffix('_')?)?;
    op.info().forms.contains(&Form::InPlace).then_some(Function::Table(op, Form::InPlace))
}

/// Names that PyTorch's Python front end, its modules and NumPy have for rows of the table.
fn renamed(name: &str) -> Option<Function> {
    let row = match name {
        "MSELoss" => "mse_loss",
        "L1Loss" => "l1_loss",
        "SmoothL1Loss" => "smooth_l1_loss",
        "HuberLoss" => "huber_loss",
        "SoftMarginLoss" => "soft_margin_loss",
        "HingeEmbeddingLoss" => "hinge_embedding_loss",
        "MarginRankingLoss" => "margin_ranking_loss",
        "KLDivLoss" => "kl_div",
        "PoissonNLLLoss" => "poisson_nll_loss",
        "BCEWithLogitsLoss" => "binary_cross_entropy_with_logits",
        "CosineEmbeddingLoss" => "cosine_embedding_loss",
        "TripletMarginLoss" => "triplet_margin_loss",
        "CosineSimilarity" => "cosine_similarity",
        "PairwiseDistance" => "pairwise_distance",
        "linalg.matmul" => "matmul",
        "linalg.norm" | "norm" => "linalg_vector_norm",
        "power" => "pow",
        "expand_dims" => "unsqueeze",
        "permute_dims" => "permute",
        _ => return None,
    };
    table(row)
}

/// The known name that is nearest to an unknown one, if one is near.
///
/// ```
/// assert_eq!(broadcheck_explain::names::nearest("matmull"), Some("matmul"));
/// assert_eq!(broadcheck_explain::names::nearest("frobnicate_all"), None);
/// ```
pub fn nearest(path: &str) -> Option<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let known =
        Op::ALL.iter().flat_map(|op| std::iter::once(op.name()).chain(op.info().aliases.iter().map(|alias| alias.0)));
    let all = known.chain(Beside::names());
    let scored = all.map(|known| (strsim::jaro_winkler(known, name), known));
    scored.filter(|(score, _)| *score > 0.85).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}
