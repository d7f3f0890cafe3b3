import { numpy as np } from "@jax-js/jax";

try {
  np.broadcastTo(np.ones([1]), [1099511627776]).dataSync();
} catch (error) {
  console.log(error.message);
}
// prints: Allocation exceeds the 4 GiB memory32 limit
