//! Where memory lies, and how much it is.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) site: Site,
    /// In [`unit`](Extent::unit).
    pub(crate) size: u64,
    /// `bytes` or `columns`.
    pub(crate) unit: &'static str,
    /// Copies of one tile that it is for, side by side.
    pub(crate) times: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// In a memory space, of which the compiler gives out the addresses; what is not known is `None`.
    Memory {
        space: Option<&'static str>,
        address: Option<u64>,
        /// The offset from the address is chosen while the kernel runs.
        at_run_time: bool,
    },
    /// In a memory space, several times: a loop's body that the compiler copies has a tile in each copy.
    Copies { space: Option<&'static str>, places: Places },
    /// In an allocation that others are in too.
    Within { offset: u64 },
    /// An allocation by itself.
    Allocation,
    /// Nothing uses it, so that the compiler leaves it out.
    Unused,
}

/// The addresses of copies, of which at least two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) copies: usize,
    /// Different ones, in the order of the copies: all of them where there are no more than fit here.
    pub(crate) first: [u64; Places::FEW],
    pub(crate) different: usize,
    /// The lowest and the highest one.
    pub(crate) lowest: u64,
    pub(crate) highest: u64,
}

impl Places {
    /// More are told as a range.
    pub(crate) const FEW: usize = 3;

    /// `None` without two that differ.
    pub(crate) fn of(addresses: impl Iterator<Item = u64>) -> Option<Places> {
        let mut different: Vec<u64> = Vec::new();
        let mut copies = 0;
        for address in addresses {
            copies += 1;
            if !different.contains(&address) {
                different.push(address);
            }
        }
        let (&lowest, &highest) = (different.iter().min()?, different.iter().max()?);
        let mut first = [0; Places::FEW];
        first.iter_mut().zip(&different).for_each(|(slot, &address)| *slot = address);
        (different.len() > 1).then_some(Places { copies, first, different: different.len(), lowest, highest })
    }
}
