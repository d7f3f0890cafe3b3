//! Any program, rendered as YAML, loads to the same program.

use super::*;

const NUMBERS: [f64; 12] =
    [0.0, -0.0, 1.0, -3.0, 0.1, 1e-40, 1e30, 65504.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0 / 3.0];

fn scalar() -> impl Strategy<Value = Scalar> {
    let float = || prop::sample::select(&NUMBERS[..]);
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        any::<i64>().prop_map(Scalar::Int),
        float().prop_map(Scalar::Float),
        any::<f64>().prop_map(Scalar::Float),
        (float(), float()).prop_map(|(re, im)| Scalar::Complex(num_complex::Complex64::new(re, im))),
    ]
}

fn input(name: usize) -> impl Strategy<Value = Input> {
    let sizes = prop::collection::vec(0..4i64, 0..4);
    let flag = any::<bool>();
    (prop::sample::select(DType::ALL), sizes, prop::collection::vec(scalar(), 27), flag, 0..4i64).prop_map(
        move |(dtype, sizes, scalars, grad, fill)| {
            let shape = Shape::new(sizes).unwrap();
            let element = |at: usize| match fill {
                0 => Scalar::Int(0),
                1 => Scalar::Int((1 + 16 * name + at) as i64),
                _ => scalars[at],
            };
            let elements = Buffer::from_scalars(dtype, (0..shape.numel()).map(element));
            let data = elements.to_bytes(&Layout::contiguous(shape.clone()));
            let requires_grad = grad && dtype.category() >= broadcheck::tensor::Category::Floating;
            Input { name: format!("x{name}"), dtype, shape, data, requires_grad }
        },
    )
}

/// An argument of each kind; tensors are any of three inputs.
fn arg(kind: ParamKind, default: Option<ParamDefault>) -> BoxedStrategy<Arg> {
    let tensor = || (0..3usize).prop_map(|value| ValueRef { value, part: None });
    let ints = || prop::collection::vec(-3..9i64, 0..4);
    let given = match kind {
        ParamKind::Tensor => tensor().prop_map(Arg::Tensor).boxed(),
        ParamKind::Operand => prop_oneof![tensor().prop_map(Arg::Tensor), scalar().prop_map(Arg::Number)].boxed(),
        ParamKind::Tensors => prop::collection::vec(tensor(), 0..4).prop_map(Arg::Tensors).boxed(),
        ParamKind::Value => prop_oneof![tensor().prop_map(Arg::Tensor), scalar().prop_map(Arg::Number)].boxed(),
        ParamKind::Indices => prop::collection::vec(prop::option::of(tensor()), 0..4).prop_map(Arg::Indices).boxed(),
        ParamKind::Shapes => {
            let shape = prop_oneof![(-3..9i64).prop_map(ShapeArg::Size), ints().prop_map(ShapeArg::Sizes)];
            prop::collection::vec(shape, 0..4).prop_map(Arg::Shapes).boxed()
        }
        ParamKind::Number => scalar().prop_map(Arg::Number).boxed(),
        ParamKind::Real => (-9..9i32).prop_map(|value| Arg::Number(Scalar::Float(f64::from(value) / 4.0))).boxed(),
        ParamKind::Reduction => prop::sample::select(REDUCTIONS).prop_map(|name| Arg::Text(name.to_owned())).boxed(),
        ParamKind::Dtype => prop::sample::select(DType::ALL).prop_map(Arg::Dtype).boxed(),
        ParamKind::ScalarType => prop::sample::select(ScalarType::ALL).prop_map(Arg::ScalarType).boxed(),
        ParamKind::Int => (-3..9i64).prop_map(Arg::Int).boxed(),
        ParamKind::Ints | ParamKind::Dims => ints().prop_map(Arg::Ints).boxed(),
        ParamKind::Flag => any::<bool>().prop_map(Arg::Flag).boxed(),
        ParamKind::Text => any::<String>().prop_map(Arg::Text).boxed(),
        ParamKind::Index => {
            let bound = || prop::option::of(-3..9i64);
            let slice =
                (bound(), bound(), 1..4i64).prop_map(|(start, stop, step)| IndexItem::Slice { start, stop, step });
            let fixed = prop::sample::select(vec![IndexItem::None, IndexItem::Ellipsis]);
            let item = prop_oneof![fixed, (-3..9i64).prop_map(IndexItem::At), slice];
            prop::collection::vec(item, 1..4).prop_map(Arg::Index).boxed()
        }
    };
    match default {
        Some(ParamDefault::Nothing) => prop_oneof![Just(Arg::Nothing), given].boxed(),
        _ => given,
    }
}

fn step(name: usize) -> impl Strategy<Value = Step> {
    let op = prop::sample::select(Op::ALL).prop_flat_map(|op| (Just(op), prop::sample::select(op.info().forms)));
    op.prop_flat_map(move |(op, form)| {
        let args: Vec<_> = op.info().arguments.iter().map(|param| arg(param.kind, param.default)).collect();
        (args, 0..3usize).prop_map(move |(mut args, value)| {
            let value = ValueRef { value, part: None };
            if form == Form::InPlace {
                args[0] = Arg::Tensor(value);
            }
            let out = (form == Form::Out).then_some(value);
            Step { name: format!("r{name}"), op, form, args, out }
        })
    })
}

proptest! {
    #[test]
    fn programs_survive_rendering(inputs in [input(0), input(1), input(2)], steps in [step(0), step(1), step(2)]) {
        let program = Program { inputs: inputs.into(), steps: steps.into() };
        let text = render::program(&program);
        let again = load_program(Path::new("program.yaml"), &text)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        // Debug text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{:?}", again), format!("{:?}", program), "{}", text);
    }
}
