//! Trees, statements and errors of the parser.

use super::*;

/// The tree with parentheses around every operation.
fn tree(expr: &Expr) -> String {
    let all = |items: &[Expr]| items.iter().map(tree).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Int(number) => number.to_string(),
        ExprKind::Float(number) => number.to_string(),
        ExprKind::Imaginary(number) => format!("{number}j"),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Bool(truth) => truth.to_string(),
        ExprKind::None => "None".to_owned(),
        ExprKind::Ellipsis => "...".to_owned(),
        ExprKind::Attribute { value, name, .. } => format!("{}.{name}", tree(value)),
        ExprKind::Call { function, arguments } => {
            let arguments = arguments.iter().map(|argument| {
                let name = argument.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
                format!("{}{name}{}", if argument.starred { "*" } else { "" }, tree(&argument.value))
            });
            format!("{}({})", tree(function), arguments.collect::<Vec<_>>().join(" "))
        }
        ExprKind::Subscript { value, index } => format!("{}[{}]", tree(value), tree(index)),
        ExprKind::Slice { start, stop, step } => {
            let part = |part: &Option<Box<Expr>>| part.as_ref().map(|part| tree(part)).unwrap_or_default();
            format!("{}:{}:{}", part(start), part(stop), part(step))
        }
        ExprKind::Tuple(items) => format!("<{}>", all(items)),
        ExprKind::List(items) => format!("[{}]", all(items)),
        ExprKind::Starred(value) => format!("*{}", tree(value)),
        ExprKind::Unary { operator, operand } => format!("({} {})", operator.symbol(), tree(operand)),
        ExprKind::Binary { left, operator, right } => {
            format!("({} {} {})", tree(left), operator.symbol(), tree(right))
        }
        ExprKind::Compare { first, rest } => {
            let rest: String = rest.iter().map(|(it, operand)| format!(" {} {}", it.symbol(), tree(operand))).collect();
            format!("({}{rest})", tree(first))
        }
    }
}

#[track_caller]
fn expression(text: &str) -> String {
    match python(text).unwrap_or_else(|error| panic!("{text}: {error}")).as_slice() {
        [Statement { kind: StatementKind::Expression(expr), .. }] => tree(expr),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn operators_bind_as_in_python() {
    for (text, expected) in [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a @ b + c", "((a @ b) + c)"),
        ("a @ b @ c", "((a @ b) @ c)"),
        ("2 ** 3 ** 2", "(2 ** (3 ** 2))"),
        ("-x ** 2", "(- (x ** 2))"),
        ("x ** -y * z", "((x ** (- y)) * z)"),
        ("- -x", "(- (- x))"),
        ("~x & y", "((~ x) & y)"),
        ("a | b ^ c & d << 1 + 2", "(a | (b ^ (c & (d << (1 + 2)))))"),
        ("x >> 1 > y", "((x >> 1) > y)"),
        ("a & b == c", "((a & b) == c)"),
        ("0 < x <= 1", "(0 < x <= 1)"),
        ("not a == b and c or d", "(((not (a == b)) and c) or d)"),
        ("not not a", "(not (not a))"),
        ("a // b % c / d", "(((a // b) % c) / d)"),
        ("x.y[0](1).z", "x.y[0](1).z"),
        ("-x.T @ y", "((- x.T) @ y)"),
        ("x[0] ** 2", "(x[0] ** 2)"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn atoms_calls_and_subscripts() {
    for (text, expected) in [
        ("x[:, None]", "x[<:: None>]"),
        ("x[..., ::2, 1:, :-1, a:b:c]", "x[<... ::2 1:: :(- 1): a:b:c>]"),
        ("x[np.newaxis]", "x[np.newaxis]"),
        ("x[[0, 1], (2,)]", "x[<[0 1] <2>>]"),
        ("x[0,]", "x[<0>]"),
        ("x[mask]", "x[mask]"),
        ("x[*idx, 0]", "x[<*idx 0>]"),
        ("torch.sum(x, dim=(0, 1), keepdim=True)", "torch.sum(x dim=<0 1> keepdim=true)"),
        ("f(*xs, y)", "f(*xs y)"),
        ("f(\n  x,  # first\n  y,\n)", "f(x y)"),
        ("torch.einsum('ij,jk->ik', a, b)", "torch.einsum(\"ij,jk->ik\" a b)"),
        ("'a' \"b\"", "\"ab\""),
        ("()", "<>"),
        ("(x,)", "<x>"),
        ("x, y", "<x y>"),
        ("[*a, b]", "[*a b]"),
        ("((x))", "x"),
        ("1e3 + 2j + True", "((1000 + 2j) + true)"),
        ("x \\\n + y", "(x + y)"),
        (">>> x + y", "(x + y)"),
        ("return F.linear(x, w)", "F.linear(x w)"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn statements() {
    let kinds = |text: &str| -> Vec<String> {
        let statements = python(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let kind = |statement: &Statement| match &statement.kind {
            StatementKind::Expression(value) => tree(value),
            StatementKind::Assign { targets, value } => {
                format!("{} = {}", targets.iter().map(tree).collect::<Vec<_>>().join(" = "), tree(value))
            }
            StatementKind::Augmented { target, operator, value } => {
                format!("{} {}= {}", tree(target), operator.symbol(), tree(value))
            }
        };
        statements.iter().map(kind).collect()
    };
    for (text, expected) in [
        ("r = x + y", &["r = (x + y)"][..]),
        ("a = b = x", &["a = b = x"]),
        ("a, b = x, y", &["<a b> = <x y>"]),
        ("x: Tensor = y", &["x = y"]),
        ("x[mask] = 0; x += 1", &["x[mask] = 0", "x += 1"]),
        ("x[0] @= y\nx **= 2\nx //= 3\nx <<= 1", &["x[0] @= y", "x **= 2", "x //= 3", "x <<= 1"]),
        ("import torch\nfrom torch import nn\nx", &["x"]),
        ("\n;; x;\n# only a comment\n", &["x"]),
        ("", &[]),
        ("a, *b = x", &["<a *b> = x"]),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

#[test]
fn errors_name_the_place_and_what_to_write() {
    for (text, place, what) in [
        ("x +", "", "the expression ends too early"),
        ("x + * y", "*", "* is not expected here"),
        ("x y", "y", "y follows x directly"),
        ("f(x for x in y)", "for", "for is not read here"),
        ("lambda x: x", "lambda", "lambda is not read here"),
        ("x if y else z", "if", "if is not read here"),
        ("x in y", "in", "in is not read here"),
        ("for i in x:", "for", "for is not read here"),
        ("{1: 2}", "{", "a dictionary or a set"),
        ("f(**kw)", "**", "** in a call"),
        ("x[]", "[]", "no index in the brackets"),
        ("x. + y", "+", "a dot without a name"),
        ("x + y = z", "x + y", "an assignment to what is no target"),
        ("(x := 3)", ":=", ":= is not expected here"),
        ("x == not y", "not", "a not after an operator"),
        ("x: Tensor", "x: Tensor", "an annotation without a value"),
        ("a, b += 1", "a, b", "an augmented assignment to several targets"),
        ("x = ", "", "the expression ends too early"),
        ("f(x, , y)", ",", ", is not expected here"),
        ("*x", "*x", "a * before nothing to spread into"),
    ] {
        let error = python(text).expect_err(text);
        assert_eq!((&text[error.span.clone()], error.what.as_str()), (place, what), "{text}");
        assert!(!error.advice.is_empty());
    }
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("x[", "]"), ("-", ""), ("not ", ""), ("2**", "")] {
        let nested = |levels: usize| format!("{}x{}", open.repeat(levels), close.repeat(levels));
        assert!(python(&nested(40)).is_ok(), "{open}");
        let error = python(&nested(100_000)).expect_err(open);
        assert!(error.what.contains("levels"), "{open}: {error}");
    }
    for link in [".x", "[0]", "()", "+x", " and x", "@x"] {
        assert!(python(&format!("x{}", link.repeat(90))).is_ok(), "{link}");
        let error = python(&format!("x{}", link.repeat(100_000))).expect_err(link);
        assert!(error.what.contains("levels"), "{link}: {}", error.what);
    }
}

#[test]
fn the_place_of_an_operation_is_its_text() {
    let text = "r = (a + b) * c[0]";
    let statements = python(text).unwrap();
    let StatementKind::Assign { value, .. } = &statements[0].kind else { panic!("an assignment") };
    let places: Vec<&str> = value.children().map(|child| &text[child.span.clone()]).collect();
    assert_eq!(places, ["(a + b)", "c[0]"]);
    assert_eq!((&text[value.span.clone()], statements[0].span.clone()), ("(a + b) * c[0]", 0..text.len()));
}
