//! The ways to lay the dimensions of one shape onto those of another.

/// The most ways that are looked at.
const MOST: usize = 24;

/// The ways to place the dimensions of `own` in the dimensions of `target`, in order, so that each meets its own size, or
/// is 1. Each way lists, for each dimension of `own`, the dimension of `target`; the placement at the end, which PyTorch
/// takes by itself, is left out.
pub(super) fn in_order(own: &[i64], target: &[i64]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    place(own, target, 0, &mut Vec::new(), &mut found);
    let by_itself: Vec<usize> = (target.len().saturating_sub(own.len())..target.len()).collect();
    found.retain(|places| *places != by_itself);
    found
}

fn place(own: &[i64], target: &[i64], from: usize, places: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if found.len() >= MOST {
        return;
    }
    let Some(size) = own.get(places.len()) else {
        found.push(places.clone());
        return;
    };
    for dim in from..target.len() {
        if target[dim] == *size || *size == 1 {
            places.push(dim);
            place(own, target, dim + 1, places, found);
            places.pop();
        }
    }
}

/// The orders of the dimensions of `own`, other than its own, in which it broadcasts to `target` at the end.
pub(super) fn permuted(own: &[i64], target: &[i64]) -> Vec<Vec<usize>> {
    if own.len() < 2 || own.len() > 5 || own.len() > target.len() {
        return Vec::new();
    }
    let end = &target[target.len() - own.len()..];
    let mut found = Vec::new();
    let mut order = Vec::new();
    permute(own, end, &mut order, &mut found);
    found.retain(|order: &Vec<usize>| order.windows(2).any(|pair| pair[0] > pair[1]));
    found
}

fn permute(own: &[i64], end: &[i64], order: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if found.len() >= MOST {
        return;
    }
    if order.len() == own.len() {
        found.push(order.clone());
        return;
    }
    for dim in 0..own.len() {
        let wanted = end[order.len()];
        if !order.contains(&dim) && (own[dim] == wanted || own[dim] == 1 || wanted == 1) {
            order.push(dim);
            permute(own, end, order, found);
            order.pop();
        }
    }
}

/// The method that brings the dimensions into this order: `.T`, `.transpose(1, 2)`, `.permute(0, 3, 1, 2)`.
pub(super) fn reordered(order: &[usize]) -> String {
    let moved: Vec<usize> = (0..order.len()).filter(|&at| order[at] != at).collect();
    match (moved.as_slice(), order.len()) {
        ([0, 1], 2) => ".T".to_owned(),
        ([a, b], rank) if *b + 1 == rank && *a + 2 == rank => ".transpose(-1, -2)".to_owned(),
        ([a, b], _) => format!(".transpose({a}, {b})"),
        _ => {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            format!(".permute({})", order.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_keep_the_order_and_meet_their_sizes() {
        assert_eq!(in_order(&[3], &[32, 3, 224, 224]), [vec![1]]);
        assert_eq!(in_order(&[5, 7], &[5, 4, 7]), [vec![0, 2]]);
        assert!(in_order(&[224], &[32, 3, 224]).is_empty(), "PyTorch places it there by itself");
        assert!(in_order(&[9], &[32, 3]).is_empty());
    }

    #[test]
    fn orders_are_those_that_broadcast() {
        assert_eq!(permuted(&[3, 5], &[5, 3]), [vec![1, 0]]);
        assert_eq!(reordered(&[1, 0]), ".T");
        assert_eq!(reordered(&[0, 2, 1]), ".transpose(-1, -2)");
        assert_eq!(reordered(&[0, 3, 1, 2]), ".permute(0, 3, 1, 2)");
        assert_eq!(reordered(&[1, 0, 2]), ".transpose(0, 1)");
    }
}
