# Writes r_numbers.json: what R's MASS (lda, qda) and e1071 (naiveBayes) answer on
# small data sets, for the tests to compare against.  The JSON holds the data too,
# so that the tests need no R.
#
# How to run, in this directory:
#     Rscript make_r_numbers.R
# Debian packages: r-base-core r-cran-mass r-cran-e1071 r-cran-jsonlite
#
# Every `call` in the JSON is the very text that was evaluated, with X the numeric
# matrix (data frame of factors for the categorical sets) and y the factor of labels
# of the data set that the case names.

suppressPackageStartupMessages({
  library(MASS)
  library(e1071)
  library(jsonlite)
})

# ---------------------------------------------------------------- data sets

numeric_set <- function(X, y, source) {
  X <- as.matrix(X)
  rownames(X) <- NULL
  list(X = X, y = factor(y), source = source)
}

expand_table <- function(tab, class_name) {
  cells <- as.data.frame(tab)
  rows <- cells[rep(seq_len(nrow(cells)), cells$Freq), names(cells) != "Freq"]
  rownames(rows) <- NULL
  list(X = rows[, names(rows) != class_name], y = rows[[class_name]])
}

titanic <- expand_table(Titanic, "Survived")

# A made-up factor table.  `shape` never takes the value "square" with class "c",
# so that its table has one empty cell; `colour` has a level "unused" that no row takes.
set.seed(84)
n_toy <- 60
toy_y <- factor(sample(c("a", "b", "c"), n_toy, replace = TRUE, prob = c(.5, .3, .2)))
toy_X <- data.frame(
  shape = factor(sample(c("disc", "square", "star"), n_toy, replace = TRUE),
                 levels = c("disc", "square", "star")),
  colour = factor(sample(c("blue", "red"), n_toy, replace = TRUE),
                  levels = c("blue", "red", "unused")),
  size = factor(sample(c("s", "m", "l", "xl"), n_toy, replace = TRUE),
                levels = c("s", "m", "l", "xl")))
toy_X$shape[toy_y == "c" & toy_X$shape == "square"] <- "star"

sets <- list(
  iris = numeric_set(iris[, 1:4], iris$Species, "R datasets::iris"),
  pima = numeric_set(Pima.tr[, 1:7], Pima.tr$type, "R MASS::Pima.tr"),
  pima_glu = numeric_set(Pima.tr[, "glu", drop = FALSE], Pima.tr$type,
                         "R MASS::Pima.tr, the column glu only"),
  titanic = c(titanic, source = "R datasets::Titanic, one row for each person"),
  toy = list(X = toy_X, y = toy_y,
             source = "made up in make_r_numbers.R (set.seed(84)); no row has class c with shape square, and colour has a level that no row takes"))

# ---------------------------------------------------------------- cases

bare <- function(m) {             # a matrix without its names, rows first in the JSON
  dimnames(m) <- NULL
  unclass(m)
}

discriminant_case <- function(name, set, call) {
  X <- sets[[set]]$X
  y <- sets[[set]]$y
  fit <- eval(parse(text = call))
  p <- predict(fit, X)
  out <- list(
    name = name, data = set, call = call, predict_call = "predict(fit, X)",
    classes = I(levels(y)), counts = I(as.vector(fit$counts)),
    prior = I(as.vector(fit$prior)), means = bare(fit$means))
  if (inherits(fit, "lda")) {
    out$svd <- I(fit$svd)
    out$scaling_abs <- bare(abs(fit$scaling))
    out$x_abs <- bare(abs(p$x))
  } else {
    out$log_det_covariance <- I(fit$ldet)
  }
  out$posterior <- bare(p$posterior)
  stopifnot(all(is.finite(out$posterior)))
  out
}

gaussian_nb_case <- function(name, set, call) {
  X <- as.data.frame(sets[[set]]$X)
  y <- sets[[set]]$y
  fit <- eval(parse(text = call))
  predict_call <- "predict(fit, X, type = \"raw\", threshold = 0, eps = 0)"
  posterior <- bare(eval(parse(text = predict_call)))
  mean <- sapply(fit$tables, function(t) t[, 1])
  sd <- sapply(fit$tables, function(t) t[, 2])
  # The same by hand, with dnorm: threshold and eps have changed nothing.
  n_c <- as.vector(table(y))
  joint <- sapply(seq_along(n_c), function(k) {
    log(n_c[k] / sum(n_c)) +
      rowSums(sapply(names(X), function(v) dnorm(X[[v]], mean[k, v], sd[k, v], log = TRUE)))
  })
  top <- apply(joint, 1, max)
  by_hand <- exp(joint - top) / rowSums(exp(joint - top))
  stopifnot(all(is.finite(posterior)), max(abs(by_hand - posterior)) < 1e-12)
  list(name = name, data = set, call = call, predict_call = predict_call,
       classes = I(levels(y)), counts = I(n_c), prior = I(n_c / sum(n_c)),
       means = bare(mean), sd = bare(sd), posterior = posterior)
}

categorical_nb_case <- function(name, set, call) {
  X <- sets[[set]]$X
  y <- sets[[set]]$y
  fit <- eval(parse(text = call))
  rows <- unique(X)
  rownames(rows) <- NULL
  predict_call <- "predict(fit, rows, type = \"raw\", threshold = 0, eps = 0)"
  posterior <- bare(eval(parse(text = predict_call)))
  # By hand, from the tables that e1071 gives.
  n_c <- as.vector(table(y))
  joint <- sapply(seq_along(n_c), function(k) {
    (n_c[k] / sum(n_c)) *
      apply(sapply(names(X), function(v) fit$tables[[v]][k, as.character(rows[[v]])]), 1, prod)
  })
  by_hand <- joint / rowSums(joint)
  # Where a class has probability zero e1071 divides exp(-Inf + Inf): NaN.  There,
  # and only there, the number by hand (0) stands in its place.
  nan <- is.nan(posterior)
  stopifnot(all(nan == (by_hand == 0)), max(abs(by_hand - posterior)[!nan]) < 1e-12)
  posterior[nan] <- by_hand[nan]
  list(name = name, data = set, call = call, predict_call = predict_call,
       classes = I(levels(y)), counts = I(n_c), prior = I(n_c / sum(n_c)),
       laplace = fit$call$laplace,
       levels = lapply(X, function(v) I(levels(v))),
       tables = lapply(fit$tables, function(t) bare(as.matrix(t))),
       rows = bare(as.matrix(rows)), posterior = posterior,
       e1071_gave_nan = sum(nan))
}

cases <- list()
add <- function(case) cases[[length(cases) + 1]] <<- case

for (method in c("moment", "mle")) {
  add(discriminant_case(paste0("iris_lda_", method), "iris",
                        sprintf("lda(X, y, method = \"%s\")", method)))
  add(discriminant_case(paste0("iris_lda_", method, "_prior"), "iris",
                        sprintf("lda(X, y, prior = c(.2, .3, .5), method = \"%s\")", method)))
  add(discriminant_case(paste0("iris_qda_", method), "iris",
                        sprintf("qda(X, y, method = \"%s\")", method)))
  add(discriminant_case(paste0("iris_qda_", method, "_prior"), "iris",
                        sprintf("qda(X, y, prior = c(.2, .3, .5), method = \"%s\")", method)))
  add(discriminant_case(paste0("pima_lda_", method), "pima",
                        sprintf("lda(X, y, method = \"%s\")", method)))
  add(discriminant_case(paste0("pima_qda_", method), "pima",
                        sprintf("qda(X, y, method = \"%s\")", method)))
  add(discriminant_case(paste0("univariate_lda_", method), "pima_glu",
                        sprintf("lda(X, y, method = \"%s\")", method)))
}
add(gaussian_nb_case("iris_gaussian_nb", "iris", "naiveBayes(X, y)"))
add(gaussian_nb_case("pima_gaussian_nb", "pima", "naiveBayes(X, y)"))
for (set in c("titanic", "toy")) {
  for (laplace in 0:1) {
    add(categorical_nb_case(sprintf("%s_categorical_nb_laplace%d", set, laplace), set,
                            sprintf("naiveBayes(X, y, laplace = %d)", laplace)))
  }
}

# ---------------------------------------------------------------- notes and output

notes <- list(
  layout = "cases[i].data names an entry of datasets, which holds X (rows) and y (labels) once for all the cases on it. Matrices are lists of rows; classes are in the order of `classes`; columns in the order of datasets[...].columns. posterior and x_abs have one row for each row of X, except in the categorical cases, where posterior has one row for each entry of `rows` (the distinct rows of X).",
  lda = "Within-class covariance: sum over all rows of (x - mean of its class)(x - mean of its class)' divided by n - k (moment) or n (mle), k classes. It weighs classes by their counts, whatever prior is given. The prior enters the log prior of the posterior, and the centre and the rotation of the scores x. posterior: proportional to prior_c exp(-(x - m_c)' S^-1 (x - m_c) / 2), the plug-in rule (predict.lda's default method).",
  lda_scores = "x = (X - sum_c prior_c m_c) %*% scaling; scaling is such that scaling' S scaling = I, with axes the right singular vectors of the sphered, prior-weighted class means. Signs are arbitrary: x_abs and scaling_abs hold absolute values. svd: singular values of sqrt(n prior_c f) (m_c - centre) S^-1/2, f = 1/(k - 1) (moment) or 1/k (mle).",
  qda = "Class covariance with denominator n_c - 1 (moment) or n_c (mle). posterior: proportional to prior_c |S_c|^-1/2 exp(-(x - m_c)' S_c^-1 (x - m_c) / 2). log_det_covariance: log |S_c|.",
  gaussian_nb = "sd has denominator n_c - 1. posterior: proportional to n_c/n times the product of dnorm(x_j, mean_cj, sd_cj).",
  categorical_nb = "tables[v][c][l] = (count of level l in class c + laplace) / (N_c + laplace * number of declared levels of v), levels that no row takes included. The class prior n_c/n is not smoothed. predict() was called with threshold = 0 and eps = 0: its default threshold = 0.001 would stand in for every probability of zero.",
  nan = "Where a class has probability zero (toy, laplace = 0) e1071 itself answers NaN for that class; posterior then holds 0, by hand. e1071_gave_nan counts them.")

dataset_json <- function(s) {
  list(source = s$source, columns = I(colnames(s$X)), classes = I(levels(s$y)),
       X = bare(as.matrix(s$X)), y = as.character(s$y))
}

out <- list(
  made_by = "make_r_numbers.R",
  versions = list(R = R.version.string, MASS = as.character(packageVersion("MASS")),
                  e1071 = as.character(packageVersion("e1071")),
                  jsonlite = as.character(packageVersion("jsonlite"))),
  notes = notes,
  datasets = lapply(sets, dataset_json),
  cases = cases)

# toJSON() stops at 15 significant digits whatever `digits` says, so doubles travel as
# strings of 17 digits behind a mark, and lose mark and quotes afterwards.
exactly <- function(v) {
  if (is.list(v)) return(lapply(v, exactly))
  if (!is.numeric(v)) return(v)
  stopifnot(all(is.finite(v)))
  text <- v
  text[] <- sprintf("@%.17g", v)
  if (is.null(dim(v)) && inherits(v, "AsIs")) I(as.character(text)) else text
}
json <- toJSON(exactly(out), auto_unbox = TRUE)
json <- gsub("\"@([^\"]*)\"", "\\1", json)
# One data set or case a line, for readable differences.
json <- gsub("},{\"name\":", "},\n{\"name\":", json, fixed = TRUE)
json <- gsub("\"(versions|notes|datasets|cases)\":", "\n\"\\1\":", json)
json <- gsub("\"(iris|pima|pima_glu|titanic|toy)\":\\{", "\n\"\\1\":{", json)
writeLines(json, "r_numbers.json")

# Nothing was lost on the way out: every double is read back as it was.
back <- fromJSON("r_numbers.json", simplifyVector = FALSE)
numbers <- function(m) as.vector(t(m))
for (i in seq_along(cases)) {
  for (field in c("posterior", "means", "x_abs", "scaling_abs", "sd")) {
    if (!is.null(cases[[i]][[field]])) {
      read <- as.double(unlist(back$cases[[i]][[field]]))
      stopifnot(identical(read, numbers(cases[[i]][[field]])))
    }
  }
}
for (s in c("iris", "pima", "pima_glu")) {
  stopifnot(identical(as.double(unlist(back$datasets[[s]]$X)), numbers(unname(sets[[s]]$X) + 0)))
}
