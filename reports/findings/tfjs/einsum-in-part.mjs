import * as tf from "@tensorflow/tfjs";

try {
  tf.einsum("...i->...", tf.ones([2, 3]));
} catch (error) {
  console.log(error.message);
}
// prints: The ellipsis notation ("...") is not supported yet.
