import { numpy as np } from "@jax-js/jax";

try {
  np.mean(np.zeros([0]));
} catch (error) {
  console.log(error.message);
}
// prints: mean: cannot compute mean over zero-length axis
