//! Texts of all kinds, of which none may do harm.

use proptest::prelude::*;

use super::*;

/// Texts that are read, of which others are made.
const GOOD: &[&str] = &[
    "5,1,4,1",
    "torch.Size([5, 3])",
    "5 x 3",
    "float32[5,3]",
    "x=B,3:int64 y.shape: torch.Size([3]) B=32",
    "torch.tensor([[1, 2.5], [3, -4j]]).to('cuda')",
    "r = x[:, None, ..., ::2] + y.T @ -z ** 2; r[0] += 1",
    "a, *b = (x, y), [z]\n# comment\nf(*xs, dim=1, s='a\\'b', t=r'\\d')  \\\n + 1e-3",
    "not a == b and 0 < c <= 0xff or ~d",
    "Traceback (most recent call last):\n  File \"train.py\", line 3, in f\n    z = x + y\n    ~~^~~\nRuntimeError: The size of \
     tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1\nException raised from f\nframe #0: g",
    "Cell In[5], line 3\n----> 3 x + y\n\nValueError: operands could not be broadcast together with shapes (3,) (4,)",
    "UserWarning: Using a target size (torch.Size([32])) that is different to the input size (torch.Size([32, 1])).",
    "RuntimeError: expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal \
     to the number of dimensions in the tensor (2)",
    ">>> x.shape\ntorch.Size([5, 3])\nOut[3]: 5",
];

/// Parts that errors of a parser like.
const PARTS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\"\"\"",
    "\\",
    "\n",
    "\r\n",
    "\t",
    ",",
    ":",
    ";",
    "=",
    "==",
    ":=",
    "x",
    "×",
    "é",
    "-",
    "*",
    "**",
    "...",
    ".",
    "0x",
    "1_",
    "1e",
    "2j",
    "99999999999999999999",
    "torch.Size(",
    "Error: ",
    "File \"",
    "--> 1 ",
    "#",
    ">>> ",
    "In [",
    "]:",
    "\u{feff}",
    "\u{0}",
    "\u{1f642}",
    "not ",
    "int64",
    "if ",
];

/// Reads a text in every way, and looks at the places of what comes of it.
fn read(text: &str) {
    let errors = [
        shape(text).err(),
        bindings(text).err(),
        python(text).err(),
        arguments(&[text.to_owned()]).err(),
        arguments(&text.split(' ').map(str::to_owned).collect::<Vec<_>>()).err(),
    ];
    for error in errors.into_iter().flatten() {
        assert!(error.text.get(error.span.clone()).is_some(), "{error:?}");
        assert!(!error.what.is_empty() && !error.advice.is_empty());
        assert!(error.pointed().contains('^') && !error.to_string().is_empty());
    }
    for statement in python(text).into_iter().flatten() {
        assert!(text.get(statement.span).is_some());
    }
    for binding in bindings(text).into_iter().flatten() {
        assert!(text.get(binding.span).is_some());
    }
    if let Some(reported) = message(text) {
        assert!(text.get(reported.span.clone()).is_some() && text.get(reported.extent.clone()).is_some());
        assert!(reported.extent.start <= reported.span.start && reported.span.end <= reported.extent.end);
        for frame in &reported.frames {
            assert!(text.get(frame.span.clone()).is_some());
        }
        if let Some(known) = &reported.known {
            for (name, _) in &known.facts {
                let _ = (known.number(name), known.sizes(name), known.shapes(name));
            }
        }
    }
}

#[test]
fn good_texts_are_read_in_every_way() {
    for text in GOOD {
        read(text);
    }
}

/// Long texts that repeat what a search or a recursion goes into.
#[test]
fn long_texts_do_no_harm() {
    for part in
        PARTS.iter().chain(GOOD).chain(&["The size of tensor a (", "x=", "a.b:", "5,3 ", "x\n", "mat1 and mat2 "])
    {
        let _ = arguments(&[part.repeat(4_000 / part.len())]);
    }
}

proptest! {
    #[test]
    fn any_text_does_no_harm(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_text_of_ascii_does_no_harm(text in "[ -~\n]{0,60}") {
        read(&text);
    }

    #[test]
    fn any_tokens_do_no_harm(parts in prop::collection::vec(prop::sample::select(PARTS), 0..24)) {
        read(&parts.concat());
    }

    #[test]
    fn good_texts_with_changes_do_no_harm(
        text in prop::sample::select(GOOD),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, prop::sample::select(PARTS)), 1..6),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        for (at, removed, added) in changes {
            let at = at.index(characters.len() + 1);
            let end = characters.len().min(at + removed);
            characters.splice(at..end, added.chars());
        }
        read(&characters.into_iter().collect::<String>());
    }

    #[test]
    fn shapes_come_back_out_of_every_notation(sizes in prop::collection::vec(0i64..1_000_000, 0..5)) {
        let listed = sizes.iter().map(i64::to_string).collect::<Vec<_>>();
        let expected: Vec<Size> = sizes.iter().copied().map(Size::Number).collect();
        let comma = listed.join(", ");
        let mut texts = vec![format!("[{comma}]"), format!("torch.Size([{comma}])"), format!("float32[{comma},]")];
        if sizes.is_empty() {
            texts.pop();
        } else {
            texts.extend([comma.clone(), format!("({comma},)"), format!("{comma}:bool")]);
        }
        if sizes.len() > 1 {
            texts.extend([listed.join("x"), listed.join(" × ")]);
        }
        for text in texts {
            prop_assert_eq!(&shape(&text).expect("a shape").sizes, &expected, "{}", text);
        }
    }
}
