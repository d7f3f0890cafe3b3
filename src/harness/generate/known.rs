//! What a draft knows of a tensor.

use std::collections::HashMap;

use crate::program::{StorageRef, TensorValue, ValueRef};
use crate::tensor::{Layout, Scalar};

use super::MAX_LARGE_ELEMENTS;
use super::value::{self, Tameness};

/// A tensor that a step can use, as it is after the last step.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub at: ValueRef,
    pub tensor: TensorValue,
    pub tameness: Tameness,
    /// Whether two right implementations may differ in it: in elements, or in how they lie in memory.
    pub tolerated: bool,
    /// Whether its elements are compared within units in the last place.
    pub inexact: bool,
    /// Whether gradients flow through it.
    pub grad: bool,
}

impl Known {
    /// Where it lies. An input lies at the start of a storage of its own.
    pub fn place(&self) -> StorageRef {
        self.tensor.storage.unwrap_or(StorageRef { id: self.at.value, offset: 0 })
    }

    /// How it lies. An input is contiguous.
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
