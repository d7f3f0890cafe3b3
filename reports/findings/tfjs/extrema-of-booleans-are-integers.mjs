import * as tf from "@tensorflow/tfjs";

console.log(tf.maximum(tf.tensor([true]), tf.tensor([false])).dtype);
// prints: int32
