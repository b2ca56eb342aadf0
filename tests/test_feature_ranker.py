import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample import FeatureRanker


@parametrize_with_checks([FeatureRanker(), FeatureRanker(n_features_to_select=1, criterion="bayes_loo")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside
