// Splitting an axis of a transposed array would be a matter of strides.
use ndarray::Array2;

fn main() {
    let x = Array2::<f32>::zeros((4, 3));
    println!("{}", x.t().into_shape_with_order((3, 2, 2)).unwrap_err());
}
// prints: ShapeError/IncompatibleLayout: incompatible memory layout
