"""The errors and warnings of memclf."""


class MemclfError(Exception):
    """Base of all errors that memclf raises itself."""


class SimilarityError(MemclfError, ValueError):
    """A similarity returned an invalid value; the message names the pair and the value."""


class CoverageError(MemclfError, ValueError):
    """The given number of memories cannot cover every case at the given threshold."""


class LocalFitError(MemclfError, RuntimeError):
    """A local classifier failed to fit; the message names the memory, its size and its classes."""


class FittedPartsError(MemclfError, ValueError):
    """Fitted attributes do not belong together: one was overwritten. The message names them."""


class TrainingCasesError(MemclfError, ValueError):
    """An edit needs the training cases, and they are missing or are not those of the fit."""


class MissingExtraError(MemclfError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class ModelFolderError(MemclfError, ValueError):
    """A model folder is damaged, hostile or of the wrong format; the message names the file."""


class UntrustedTypeError(ModelFolderError):
    """A model folder needs types or functions that were not allowed; `names` lists them."""

    def __init__(self, message: str, names: list[str]):
        super().__init__(message)
        self.names = names


class DataError(MemclfError, ValueError):
    """Data in a file, or sent by a client, cannot be used; the message says what is wrong."""


class OptionError(MemclfError, ValueError):
    """An option does not fit the data or the other options; the message names it."""


class SlowSimilarityWarning(UserWarning):
    """The search will make so many slow comparisons that it takes long."""


class SimilarityWarning(UserWarning):
    """A similarity is legal but unusual (asymmetric, or a case is not fully alike to itself)."""


class JudgementsWarning(UserWarning):
    """Nothing can be learned from an expert's judgements, so that equal weights are kept."""


class MemoriesWarning(UserWarning):
    """More than half of the cases became memories, or one memory covers all cases."""


class ImageError(MemclfError, ValueError):
    """An image is broken, too large or of a kind that cannot be used; the message names it."""


class TrainingError(MemclfError, RuntimeError):
    """A network could not be trained; the message names the epoch and what may help."""


class WeightsError(MemclfError, RuntimeError):
    """A network's weights are missing or do not fit; the message names the source and the fault."""


class SpecError(MemclfError, ValueError):
    """A SPEC of measurements is wrong; the message names the line and the word."""


class ClusterError(MemclfError, RuntimeError):
    """A cluster does not answer, or its workers do not fit; the message names them."""


class StoreError(MemclfError):
    """A file of results cannot be used."""


class StudyError(MemclfError):
    """A case study cannot be run with these settings."""
