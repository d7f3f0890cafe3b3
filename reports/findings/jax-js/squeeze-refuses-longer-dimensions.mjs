import { numpy as np } from "@jax-js/jax";

try {
  np.squeeze(np.ones([1, 3]), 1);
} catch (error) {
  console.log(error.message);
}
// prints: Cannot squeeze axis with size != 1
