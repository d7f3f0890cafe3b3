import * as tf from "@tensorflow/tfjs";

const quotient = tf.floorDiv(tf.tensor([1]), tf.tensor([0]));
console.log(quotient.dtype, quotient.dataSync());
// prints: int32 Int32Array(1) [ 0 ]
