import { numpy as np } from "@jax-js/jax";

try {
  np.broadcastTo(np.ones([3, 1]), [-1, 2]);
} catch (error) {
  console.log(error.message);
}
// prints: Can't expand [3,1] into [-1,2]
