import { numpy as np } from "@jax-js/jax";

console.log(np.add(np.array([3], { dtype: np.int32 }), 0.5).js(), np.add(np.array([true]), 1).dtype);
// prints: [ 3 ] uint32
