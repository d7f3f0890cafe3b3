import * as tf from "@tensorflow/tfjs";

try {
  tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([1, 2]));
} catch (error) {
  console.log(error.message);
}
// prints: Expected dimension 3 at axis 0 of input shaped [1,2], but got dimension 1
