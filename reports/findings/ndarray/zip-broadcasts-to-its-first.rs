// The operator broadcasts both arrays, Zip only those after its first.
use ndarray::{Zip, array};

fn main() {
    let (column, row) = (array![[1], [2]], array![[1, 2, 3]]);
    println!("{:?}", (&column + &row).shape());
    let zipped = std::panic::catch_unwind(|| Zip::from(&column).and_broadcast(&row).map_collect(|a, b| a == b));
    println!("{}", zipped.unwrap_err().downcast::<String>().unwrap());
}
// prints: [2, 3]
// ndarray: could not broadcast array from shape: [1, 3] to: [2, 1]
