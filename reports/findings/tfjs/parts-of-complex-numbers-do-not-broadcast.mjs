import * as tf from "@tensorflow/tfjs";

try {
  tf.complex(tf.ones([2, 1]), tf.ones([2]));
} catch (error) {
  console.log(error.message);
}
// prints: real and imag shapes, 2,1 and 2, must match in call to tf.complex(). Shapes 2,1 and 2 must match
