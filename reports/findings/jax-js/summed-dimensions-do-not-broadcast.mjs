import { numpy as np } from "@jax-js/jax";

try {
  np.vecdot(np.ones([1]), np.ones([3]));
} catch (error) {
  console.log(error.message);
}
// prints: vecdot: shapes [1] and [3] not aligned along axis undefined: 1 != 3
