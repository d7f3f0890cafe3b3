import * as tf from "@tensorflow/tfjs";

console.log(tf.add(tf.tensor([1], [1], "int32"), 1).dtype);
// prints: float32
