import * as tf from "@tensorflow/tfjs";

try {
  tf.sub(tf.tensor([true, false]), tf.tensor([true, false, true]));
} catch (error) {
  console.log(error.message);
}
// prints: Operands could not be broadcast together with shapes 2 and 3.
