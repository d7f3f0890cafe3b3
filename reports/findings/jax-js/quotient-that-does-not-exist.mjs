import { numpy as np } from "@jax-js/jax";

try {
  np.floorDivide(np.array([-2147483648], { dtype: np.int32 }), np.array([-1], { dtype: np.int32 })).js();
} catch (error) {
  console.log(error.message);
}
// prints: divide result unrepresentable
