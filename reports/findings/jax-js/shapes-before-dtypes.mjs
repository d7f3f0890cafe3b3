import { numpy as np } from "@jax-js/jax";

try {
  np.subtract(np.array([true, false]), np.array([true, false, true]));
} catch (error) {
  console.log(error.message);
}
// prints: Incompatible array broadcast shapes: 2 vs 3
