import { numpy as np } from "@jax-js/jax";

try {
  np.array([1, 2, 3]).slice([2, 1]);
} catch (error) {
  console.log(error.message);
}
// prints: Slice start at 2 > end at 1
