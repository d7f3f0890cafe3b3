// A lower bound above the upper one.
use ndarray::array;

fn main() {
    let clamped = std::panic::catch_unwind(|| array![1, 2, 3].clamp(3, 2));
    println!("{}", clamped.unwrap_err().downcast::<&str>().unwrap());
}
// prints: min must be less than or equal to max
