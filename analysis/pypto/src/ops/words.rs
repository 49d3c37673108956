//! Words that are values of attributes, each with a meaning that later stages decide by.

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            pub fn from_name(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    )*};
}

words! {
    /// `core_type`: the cores that wait for each other, or that raise and read a flag.
    CoreType {
        Aic "aic",
        AicOnly "aic_only",
        Aiv "aiv",
        AivOnly "aiv_only",
        Mix "mix",
    }
    /// `mode` of `pl.system.syncall`.
    BarrierMode {
        /// By flags of the hardware, which wait for every core of the chip.
        Hard "hard",
        /// By polling counters in global memory.
        Soft "soft",
    }
    /// `op` of a notification.
    NotifyOp {
        AtomicAdd "AtomicAdd",
        Set "Set",
    }
    /// `cmp` of what waits for a notification.
    WaitCmp {
        Eq "Eq",
        Ge "Ge",
    }
    /// `coalesce` of `pl.tile.mgather`, where it is no number.
    Coalesce {
        Element "elem",
        Row "row",
    }
}
