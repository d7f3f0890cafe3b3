import * as tf from "@tensorflow/tfjs";

try {
  await tf.booleanMaskAsync(tf.ones([2, 3]), tf.tensor([true, false, true]));
} catch (error) {
  console.log(error.message);
}
// prints: mask's shape must match the first K dimensions of tensor's shape, Shapes 2 and 3 must match
