//! The state of the tensors of a program that is being built, and what an exclusion is shown of that program.

use std::collections::HashMap;

use crate::program::{Program, StorageRef, TensorValue, ValueRef};
use crate::tensor::{Layout, Scalar};

use crate::generate::MAX_LARGE_ELEMENTS;
use crate::generate::value::{self, Tameness};

/// A tensor that a step can use, as it is after the last step.
#[derive(Clone, Debug)]
pub(super) struct TensorState {
    pub at: ValueRef,
    pub tensor: TensorValue,
    pub tameness: Tameness,
    /// True if two right implementations may differ in it: in elements, or in how they lie in memory.
    pub tolerated: bool,
    /// True if its elements are compared within units in the last place.
    pub inexact: bool,
    /// True if gradients flow through it.
    pub grad: bool,
}

impl TensorState {
    /// Returns its place in memory. An input lies at the start of a storage of its own.
    pub fn place(&self) -> StorageRef {
        self.tensor.storage.unwrap_or(StorageRef { id: self.at.value, offset: 0 })
    }

    /// Returns its layout. An input is contiguous.
    pub fn layout(&self) -> Layout {
        let row_major = Layout::contiguous(self.tensor.shape.clone());
        let strides = self.tensor.strides.clone().unwrap_or(row_major.strides);
        Layout { shape: row_major.shape, strides, offset: self.place().offset }
    }

    /// Replaces the elements at some places of its storage.
    pub fn overwrite(&mut self, fresh: &HashMap<usize, Scalar>) {
        if self.tensor.shape.numel() > MAX_LARGE_ELEMENTS {
            return;
        }
        let places = self.layout();
        let old = self.tensor.elements();
        let new = places.positions().zip(old).map(|(place, old)| fresh.get(&place).copied().unwrap_or(old));
        self.tensor.data = value::bytes(self.tensor.dtype, &self.tensor.shape, new);
        self.tameness = Tameness::of(&self.tensor);
    }
}

/// A program whose last step is proposed, as an exclusion sees it.
pub(super) trait Proposal {
    /// The program up to that step.
    fn program(&self) -> &Program;
    /// Every tensor that the step can use.
    fn known(&self) -> &[TensorState];
    /// The indices in `known` of the tensors that the step uses.
    fn operands(&self) -> &[usize];
    /// Returns whether the step, once it was tried, left the tensor that it writes to with another shape, or may have.
    fn reshaped(&self) -> bool;
    /// Returns whether a `backward` was rejected, on whose way some gradients may have arrived.
    fn halfway(&self) -> bool;

    /// The state of a value.
    fn find(&self, at: ValueRef) -> Option<&TensorState> {
        self.known().iter().find(|known| known.at == at)
    }
}
